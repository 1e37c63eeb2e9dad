import type { Observer } from './observer.ts'

const duration = { name: 'concordat.store.duration', unit: 's', description: 'Duration of the calls of a store.' }

/** Returns a store whose asynchronous calls are measured; without an observer, the store itself. `name` is that of its member in the option `stores`. */
export function measureCalls<Measured extends object>(observer: Observer | undefined, name: string, store: Measured): Measured {
  if (observer === undefined) return store
  const { record } = observer
  const measured = new Map<string | symbol, unknown>()

  function measure(key: string | symbol, method: (...input: unknown[]) => unknown) {
    const attributes = { store: name, operation: String(key) }
    return (...input: unknown[]) => {
      const since = performance.now()
      const result = method.apply(store, input)
      if (!(result instanceof Promise)) return result
      const end = (error?: unknown) =>
        record(duration, (performance.now() - since) / 1000, error === undefined ? attributes : { ...attributes, 'error.type': 'failed' })
      result.then(() => end(), end)
      return result
    }
  }

  // The members of the store may be getters, or those of a class.
  return new Proxy({} as Measured, {
    has: (_target, key) => key in store,
    get(_target, key) {
      const member: unknown = Reflect.get(store, key)
      if (typeof member !== 'function') return member
      if (!measured.has(key)) measured.set(key, measure(key, member as (...input: unknown[]) => unknown))
      return measured.get(key)
    }
  })
}
