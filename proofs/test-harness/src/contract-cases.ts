import type { Test } from 'tap'

/**
 * Returns the function that registers the cases of a store contract as subtests, `atOnce` of which run at the same time. The contract
 * itself asserts, so each case counts as one test point.
 */
export function casesOf(t: Test, atOnce = 1): (title: string, run: () => unknown) => Promise<unknown> {
  t.jobs = atOnce
  return (title, run) =>
    t.test(title, { buffered: atOnce > 1 }, async (t) => {
      await run()
      t.pass('the contract is met')
    })
}
