type Cleanup = () => unknown

/**
 * What ends a test: the context of a test of `node:test`, tap or vitest. For a whole file, pass `{ after }` of `node:test`, `t` of tap, or
 * `{ after: afterAll }` of vitest.
 */
export type EndOfTest =
  | { after(cleanup: () => Promise<void>): unknown }
  | { teardown(cleanup: () => Promise<void>): unknown }
  | { onTestFinished(cleanup: () => Promise<void>): unknown }

const cleanups = new WeakMap<object, Cleanup[]>()

/**
 * Runs a function at the end of a test, the last one first, whatever the order of the runner is: a service is closed before its database is
 * removed. All of them run, also when one fails.
 */
export function atEndOf(t: EndOfTest, cleanup: Cleanup): void {
  const known = cleanups.get(t)
  if (known !== undefined) {
    known.push(cleanup)
    return
  }
  const own = [cleanup]
  cleanups.set(t, own)
  const run = () => runAll(t, own)
  // tap has `after` too, which waits until nothing keeps the process alive: a service would.
  if ('teardown' in t) t.teardown(run)
  else if ('after' in t) t.after(run)
  else t.onTestFinished(run)
}

async function runAll(t: EndOfTest, own: Cleanup[]) {
  cleanups.delete(t)
  const errors: unknown[] = []
  for (let next = own.pop(); next !== undefined; next = own.pop()) {
    try {
      await next()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length === 1) throw errors[0]
  if (errors.length > 1) throw new AggregateError(errors, `testing: ${errors.length} steps at the end of the test failed.`)
}
