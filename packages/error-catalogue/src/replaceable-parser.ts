import type { FastifyInstance } from 'fastify'

const json = 'application/json'
const replacedKey: unique symbol = Symbol('concordat.replacedJsonParser')

/**
 * Adds a parser for JSON that any context can replace once, like Fastify's own parser. Otherwise Fastify would refuse a second parser, and
 * a proxy that forwards bodies unread, or a receiver that verifies their bytes, could not be registered. Throws Fastify's error if JSON
 * already has a parser that is not Fastify's.
 */
export function addReplaceableParser(app: FastifyInstance, ...parser: unknown[]): void {
  const add = app.addContentTypeParser as (type: unknown, ...parser: unknown[]) => FastifyInstance
  add.call(app, json, ...parser)
  const addOther = function (this: FastifyInstance, types: unknown, ...others: unknown[]) {
    if ([types].flat().includes(json) && !this.hasDecorator(replacedKey)) {
      this.removeContentTypeParser(json)
      this.decorate(replacedKey, true)
    }
    return add.call(this, types, ...others)
  }
  app.addContentTypeParser = addOther as FastifyInstance['addContentTypeParser']
}
