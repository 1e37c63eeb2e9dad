import { isUtf8 } from 'node:buffer'
import { defineErrors, type ErrorDefinition } from '@concordat/plugin-kit/api-error'
import { losesDigits } from '@concordat/plugin-kit/json-schema'
import type { Contracts } from '@concordat/plugin-kit/wiring'
import type { FastifyBodyParser, FastifyInstance } from 'fastify'
import { errorCatalogueErrors } from '../catalogue/errors.ts'
import { bodyLimits } from './body-limits.ts'
import { type ReadBytes, readJsonBytes } from './json-bytes.ts'
import { bodyIsChecked, type CheckedRequest, invalidPart, unstorableValues } from './storable-values.ts'

const json = 'application/json'
/** The levels of nested objects and arrays that a JSON body, or a field with JSON, can have. */
export const maxDepth = 64
const infinity = '1e999'
const maxPartMembers = 5000

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

const tooManyMembers = defineErrors({
  PAYLOAD_TOO_LARGE: {
    ...(errorCatalogueErrors.definitions['PAYLOAD_TOO_LARGE'] as ErrorDefinition),
    message: {
      en: {
        plural: 'limit',
        one: 'The body has more than {limit, number} value. Send fewer in one request.',
        other: 'The body has more than {limit, number} values. Send fewer in one request.'
      },
      es: {
        plural: 'limit',
        one: 'El cuerpo tiene más de {limit, number} valor. Envíe menos en una petición.',
        many: 'El cuerpo tiene más de {limit, number} de valores. Envíe menos en una petición.',
        other: 'El cuerpo tiene más de {limit, number} valores. Envíe menos en una petición.'
      }
    }
  }
})

// Media types with the `+json` suffix are JSON too (RFC 6839).
const suffixed = /^application\/[\w!#$&^.+-]+\+json(?:$|[\s;])/i

/** Adds the strict parser for JSON bodies, unless the service has added its own. */
export function addJsonParsers(app: FastifyInstance): void {
  const parser = jsonBodyParser(app)
  for (const [type, add] of [
    [json, () => addReplaceableParser(app, parser)],
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

// A parser of a name comes before one of a pattern, so any context can add its own, as in place of Fastify's. Otherwise a proxy that forwards bodies
// unread, or a receiver that verifies their bytes, could not be registered.
function addReplaceableParser(app: FastifyInstance, parser: FastifyBodyParser<Buffer>): void {
  // Fastify's own parser can be replaced, and a replaced one can be removed.
  app.addContentTypeParser(json, { parseAs: 'buffer' }, parser)
  app.removeContentTypeParser(json)
  app.addContentTypeParser(/^application\/json(?:$|[\s;])/i, { parseAs: 'buffer' }, parser)
}

// Rejects input that JSON.parse accepts but databases and serializers cannot process. Without a body it accepts the media type on a route that declares
// none, because many HTTP clients always send it.
function jsonBodyParser(app: FastifyInstance): FastifyBodyParser<Buffer> {
  const read = jsonReader(app)
  return (request: CheckedRequest, bytes: Buffer, done) => {
    if (bytes.length === 0 && request.routeOptions.schema?.body === undefined) return done(null, undefined)
    const limits = bodyLimits(request, bytes.length)
    if (bytes.length > limits.bytes) return done(errorCatalogueErrors.create('PAYLOAD_TOO_LARGE'), undefined)
    read(bytes, limits.members, (error, value, isSuspect) => {
      if (error) return done(error, undefined)
      const errors = isSuspect ? unstorableValues(value) : []
      if (errors.length > 0) return done(invalidPart('body', errors), undefined)
      request[bodyIsChecked] = true
      return done(null, value)
    })
  }
}

type ReadJson = (bytes: Buffer, maxMembers: number, done: (error: Error | null, value: unknown, isSuspect: boolean) => void) => void

/** Returns a function that parses a JSON text within the limits of bodies. A number in the value that has lost digits is infinite. */
function jsonReader(app: FastifyInstance): ReadJson {
  const parse = app.getDefaultJsonParser('error', 'error') as FastifyBodyParser<string>
  return (bytes, maxMembers, done) => {
    const refuse = (error: Error) => done(error, undefined, false)
    if (!isUtf8(bytes)) return refuse(errorCatalogueErrors.create('INVALID_UTF8'))
    const { exceeded, isSuspect, longIntegers } = readJsonBytes(bytes, { depth: maxDepth, members: maxMembers })
    if (exceeded === 'depth') return refuse(errorCatalogueErrors.create('JSON_TOO_DEEP', { params: { limit: maxDepth } }))
    if (exceeded === 'members') return refuse(tooManyMembers.create('PAYLOAD_TOO_LARGE', { params: { limit: maxMembers } }))
    const text = withInexactMarked(bytes, longIntegers).toString('utf8')
    void parse(undefined as never, text, (error, value) => {
      if (error) refuse(isJson(text) ? forbiddenKey.create('MALFORMED_JSON') : error)
      else done(null, value, isSuspect)
    })
  }
}

/** Returns the contract `readJson`: the value of a JSON text in a part of a body. */
export function partReader(app: FastifyInstance): Contracts['catalogue']['readJson'] {
  const read = jsonReader(app)
  return (text) =>
    new Promise((resolve, reject) => {
      read(Buffer.from(text), maxPartMembers, (error, value) => (error ? reject(error) : resolve(value)))
    })
}

function isJson(text: string) {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

// An integer that loses digits becomes infinite, which no body may be either, so that it is found among the values.
function withInexactMarked(bytes: Buffer, longIntegers: ReadBytes['longIntegers']): Buffer {
  for (const [start, end] of longIntegers) {
    if (losesDigits(bytes.toString('latin1', start, end))) bytes.fill(' ', start, end).write(infinity, start)
  }
  return bytes
}
