import type { ConventionsOptions } from '@concordat/conventions'

/** The versions of the API. A version that ended stays here when its routes are removed, so that its addresses respond with 410. */
export const versions: ConventionsOptions['versions'] = {
  1: { status: 'current' }
}
