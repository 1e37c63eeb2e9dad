/**
 * Creates a function that returns the value of one key and queries all keys that are requested at the same moment together. Concurrent
 * calls therefore cost one statement instead of many.
 */
export function gathered<Key, Value>(ask: (keys: readonly Key[]) => Promise<readonly Value[]>): (key: Key) => Promise<Value | undefined> {
  let batch: { readonly keys: Key[]; readonly answers: Promise<readonly Value[]> } | undefined

  return async (key) => {
    batch ??= begin()
    const { keys, answers } = batch
    const position = keys.push(key) - 1
    return (await answers)[position]
  }

  function begin() {
    const keys: Key[] = []
    const { promise: answers, resolve } = Promise.withResolvers<readonly Value[]>()
    // Runs after all code that is ready to run, and before any I/O.
    process.nextTick(() => {
      batch = undefined
      resolve(ask(keys))
    })
    return { keys, answers }
  }
}
