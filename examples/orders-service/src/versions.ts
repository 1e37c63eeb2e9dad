import type { ConventionsOptions } from '@concordat/conventions'

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
