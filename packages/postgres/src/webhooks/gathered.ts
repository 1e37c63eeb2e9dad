/** Creates a function that returns the value for a key, and loads the values for all keys that are requested at the same moment with one statement. */
export function gathered<Key, Value>(
  execute: (keys: readonly Key[]) => Promise<readonly Value[]>
): (key: Key) => Promise<Value | undefined> {
  let batch: { readonly keys: Key[]; readonly results: Promise<readonly Value[]> } | undefined

  return async (key) => {
    batch ??= begin()
    const { keys, results } = batch
    const position = keys.push(key) - 1
    return (await results)[position]
  }

  function begin() {
    const keys: Key[] = []
    const { promise: results, resolve } = Promise.withResolvers<readonly Value[]>()
    // Runs after all code that is ready to run, and before any I/O.
    process.nextTick(() => {
      batch = undefined
      // A function that throws before it returns a promise would end the process here.
      resolve((async () => execute(keys))())
    })
    return { keys, results }
  }
}
