import { isUtf8 } from 'node:buffer'
import { defineErrors, type ErrorDefinition } from '@concordat/api-error'
import { losesDigits } from '@concordat/json-schema'
import type { FastifyBodyParser, FastifyInstance } from 'fastify'
import { errorCatalogueErrors } from './errors.ts'
import { bodyIsChecked, type CheckedRequest, inexact, invalidPart, isOdd, unstorableValues } from './storable-values.ts'

const json = 'application/json'
const replacedKey: unique symbol = Symbol('concordat.replacedJsonParser')
const maxDepth = 64

// The same code for JSON that the parser refuses because of a key.
const forbiddenKey = defineErrors({
  MALFORMED_JSON: {
    ...(errorCatalogueErrors.definitions['MALFORMED_JSON'] as ErrorDefinition),
    message: {
      en: 'The body has the key `__proto__`, or `constructor` with `prototype`, which are not accepted. Remove it.',
      es: 'El cuerpo tiene la clave `__proto__`, o `constructor` con `prototype`, que no se admiten. Elimínela.'
    }
  }
})

// Media types with the `+json` suffix are JSON too (RFC 6839).
const suffixed = /^application\/[\w!#$&^.+-]+\+json(?:$|[\s;])/i

/** Adds the strict parser for JSON bodies, unless the service has added its own. */
export function addJsonParsers(app: FastifyInstance): void {
  const parser = jsonBodyParser(app)
  for (const [type, add] of [
    [json, () => addReplaceableParser(app, { parseAs: 'buffer' }, parser)],
    [String(suffixed), () => app.addContentTypeParser(suffixed, { parseAs: 'buffer' }, parser)]
  ] as const) {
    try {
      // Fastify allows replacing its default parser, but throws when the service has added a parser.
      add()
    } catch {
      app.log.warn(`error-catalogue: ${type} already has a parser, so its bodies are parsed by that parser and are not checked.`)
    }
  }
}

// Any context can replace the parser once, like Fastify's own. Otherwise a proxy that forwards bodies unread, or a receiver that verifies their bytes,
// could not be registered.
function addReplaceableParser(app: FastifyInstance, ...parser: unknown[]): void {
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

// Rejects input that JSON.parse accepts but databases and serializers cannot process. Without a body it accepts the media type on a route that declares
// none, because many HTTP clients always send it.
function jsonBodyParser(app: FastifyInstance): FastifyBodyParser<Buffer> {
  const parse = app.getDefaultJsonParser('error', 'error') as FastifyBodyParser<string>
  return (request: CheckedRequest, bytes: Buffer, done) => {
    if (bytes.length === 0 && request.routeOptions.schema?.body === undefined) return done(null, undefined)
    if (!isUtf8(bytes)) return done(errorCatalogueErrors.create('INVALID_UTF8'), undefined)
    const text = bytes.toString('utf8')
    void parse(request, text, (error, value) => {
      if (error) return done(isJson(text) ? forbiddenKey.create('MALFORMED_JSON') : error, undefined)
      // In valid UTF-8 that parses as JSON, only an escape can produce a NUL or an unpaired surrogate.
      const read: Reading = { strings: text.includes('\\u'), isSuspect: false }
      if (isTooDeep(value, maxDepth, read))
        return done(errorCatalogueErrors.create('JSON_TOO_DEEP', { params: { limit: maxDepth } }), undefined)
      const errors = read.isSuspect ? unstorableValues(withInexactMarked(text)) : []
      if (errors.length > 0) return done(invalidPart('body', errors), undefined)
      request[bodyIsChecked] = true
      return done(null, value)
    })
  }
}

interface Reading {
  /** Whether strings must be read. */
  readonly strings: boolean
  /** Whether a string or a number was found that may not be storable. */
  isSuspect: boolean
}

// Also sets `isSuspect`. Only a number beyond 2^53 - 1 can have lost digits of an integer, or be infinite.
function isTooDeep(value: unknown, levelsLeft: number, read: Reading): boolean {
  if (typeof value === 'number') {
    if (!(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) read.isSuspect = true
    return false
  }
  if (typeof value === 'string') {
    if (read.strings && isOdd(value)) read.isSuspect = true
    return false
  }
  if (typeof value !== 'object' || value === null) return false
  if (levelsLeft === 0) return true
  if (Array.isArray(value)) {
    for (const item of value) if (isTooDeep(item, levelsLeft - 1, read)) return true
    return false
  }
  for (const key in value) {
    if (read.strings && isOdd(key)) read.isSuspect = true
    if (isTooDeep((value as Record<string, unknown>)[key], levelsLeft - 1, read)) return true
  }
  return false
}

function isJson(text: string) {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function withInexactMarked(text: string): unknown {
  return JSON.parse(text, ((_key: string, value: unknown, { source = '' }: { source?: string }) =>
    typeof value === 'number' && losesDigits(source) ? inexact : value) as (key: string, value: unknown) => unknown)
}
