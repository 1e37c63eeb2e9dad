import type { ConventionsOptions } from '@concordat/conventions'

/**
 * The time from which responses have their current form. Change it with each release that changes a response, to a time when the processes of the
 * release before have stopped: no `Last-Modified` is earlier, so no client takes a response of that release for a current one.
 */
export const representationChangedAt = '2026-11-01T00:00:00Z'

/** The versions of the API. Version 1 ends at its `sunsetAt`. Its entry remains after its code is removed. */
export const versions: ConventionsOptions['versions'] = {
  1: {
    deprecatedAt: '2026-11-01T00:00:00Z',
    sunsetAt: '2030-12-31T00:00:00Z',
    // The address where docs/moving-to-v2.md is published.
    documentation: 'https://docs.example.com/orders-service/moving-to-v2'
  },
  2: { status: 'current' }
}
