import type { Test } from 'tap'

/**
 * Returns what registers the cases of a store contract as subtests, so many of them running at a time. The contract asserts by itself, so
 * each case counts as one test point.
 */
export function casesOf(t: Test, atOnce = 1): (title: string, run: () => unknown) => Promise<unknown> {
  t.jobs = atOnce
  return (title, run) =>
    t.test(title, { buffered: atOnce > 1 }, async (t) => {
      await run()
      t.pass('the contract holds')
    })
}
