import type { FastifyInstance } from 'fastify'

const defaultsKey: unique symbol = Symbol.for('concordat.defaultParsers') as never
const replacedKey: unique symbol = Symbol.for('concordat.replacedParsers') as never

/** The types whose parser was added on an instance as a default, and the types whose default was replaced there. */
type Parsing = FastifyInstance & {
  [defaultsKey]: Set<unknown>
  [replacedKey]: Set<unknown>
}

/**
 * Adds a parser for a media type, or for `*`, that a plugin can replace in any context, like Fastify's own parser for JSON. Without this, Fastify
 * refuses a second parser: a proxy that forwards bodies unread, or a receiver that verifies their bytes, could not be registered. Throws Fastify's
 * error if the type has a parser that is not a default.
 */
export function addReplaceableParser(app: FastifyInstance, type: string, ...parser: unknown[]): void {
  const add = app.addContentTypeParser as (type: unknown, ...parser: unknown[]) => FastifyInstance
  add.call(app, type, ...parser)
  if (Object.hasOwn(app, defaultsKey)) return void (app as Parsing)[defaultsKey].add(type)
  app.decorate(defaultsKey, new Set([type]))
  const replace = function (this: FastifyInstance, types: unknown, ...others: unknown[]) {
    for (const one of [types].flat()) {
      if (!(app as Parsing)[defaultsKey].has(one) || isReplaced(this, one)) continue
      this.removeContentTypeParser(one as string)
      if (!Object.hasOwn(this, replacedKey)) this.decorate(replacedKey, new Set())
      ;(this as Parsing)[replacedKey].add(one)
    }
    return add.call(this, types, ...others)
  }
  app.addContentTypeParser = replace as FastifyInstance['addContentTypeParser']
}

function isReplaced(app: FastifyInstance, type: unknown) {
  for (let instance: object | null = app; instance !== null; instance = Object.getPrototypeOf(instance))
    if (Object.hasOwn(instance, replacedKey) && (instance as Parsing)[replacedKey].has(type)) return true
  return false
}
