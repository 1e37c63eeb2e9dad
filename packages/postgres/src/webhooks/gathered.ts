/**
 * Makes a function that answers for one key by asking for all that are wanted at the same moment together: what runs side by side costs
 * one statement instead of many.
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
    // Once all that is ready to run has run, and before anything that waits for the outside.
    process.nextTick(() => {
      batch = undefined
      resolve(ask(keys))
    })
    return { keys, answers }
  }
}
