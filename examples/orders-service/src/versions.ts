import type { ConventionsOptions } from '@concordat/conventions'

/** The versions of the interface. The clock ends version 1; its entry stays when its code is gone. */
export const versions: ConventionsOptions['versions'] = {
  1: {
    deprecatedAt: '2026-11-01T00:00:00Z',
    sunsetAt: '2030-12-31T00:00:00Z',
    // Where docs/moving-to-v2.md is published.
    documentation: 'https://docs.example.com/orders-service/moving-to-v2'
  },
  2: { status: 'current' }
}
