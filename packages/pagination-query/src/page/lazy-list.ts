import { inspect } from 'node:util'

const text: unique symbol = Symbol('concordat.text')

/** Returns the JSON text of what a handler returned, if it is a list that nothing has read since. */
export function textOf(payload: unknown): string | undefined {
  return (payload as { readonly [text]?: string | undefined } | null | undefined)?.[text]
}

/** Returns an array with a JSON text. `read` returns its items when something uses them; the array has no text from then on. */
export function lazyList<Item>(json: string, read: () => readonly Item[]): Item[] {
  const list: Item[] = []
  const reading = new Reading(json, read)
  // `util.inspect` reads an array behind a proxy without the functions of the proxy.
  Object.defineProperty(list, inspect.custom, { configurable: true, value: () => [...reading.filled(list)] })
  return new Proxy<unknown[]>(list, reading) as Item[]
}

const index = /^\d+$/

class Reading implements ProxyHandler<unknown[]> {
  #json: string | undefined
  #read: (() => readonly unknown[]) | undefined

  constructor(json: string, read: () => readonly unknown[]) {
    this.#json = json
    this.#read = read
  }

  filled(list: unknown[]): unknown[] {
    const read = this.#read
    if (read === undefined) return list
    this.#json = undefined
    this.#read = undefined
    Reflect.deleteProperty(list, inspect.custom)
    for (const item of read()) list.push(item)
    return list
  }

  // Fastify and Node look for methods of streams and promises on what a handler returns, which needs no items.
  get(list: unknown[], key: PropertyKey) {
    if (key === text) return this.#json
    return Reflect.get(typeof key === 'string' && (key === 'length' || index.test(key)) ? this.filled(list) : list, key) as unknown
  }

  has(list: unknown[], key: PropertyKey) {
    return Reflect.has(this.filled(list), key)
  }

  set(list: unknown[], key: PropertyKey, value: unknown) {
    return Reflect.set(this.filled(list), key, value)
  }

  defineProperty(list: unknown[], key: PropertyKey, description: PropertyDescriptor) {
    return Reflect.defineProperty(this.filled(list), key, description)
  }

  deleteProperty(list: unknown[], key: PropertyKey) {
    return Reflect.deleteProperty(this.filled(list), key)
  }

  ownKeys(list: unknown[]) {
    return Reflect.ownKeys(this.filled(list))
  }

  getOwnPropertyDescriptor(list: unknown[], key: PropertyKey) {
    return Reflect.getOwnPropertyDescriptor(this.filled(list), key)
  }

  preventExtensions(list: unknown[]) {
    return Reflect.preventExtensions(this.filled(list))
  }
}
