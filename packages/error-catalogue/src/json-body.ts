import { isUtf8 } from 'node:buffer'
import type { FastifyBodyParser, FastifyInstance } from 'fastify'
import { errorCatalogueErrors } from './errors.ts'
import { losesDigits } from './exact-numbers.ts'
import { addReplaceableParser } from './replaceable-parser.ts'
import { bodyIsChecked, type CheckedRequest, inexact, invalidPart, isOdd, unstorableValues } from './storable-values.ts'

// Media types with the `+json` suffix are JSON too (RFC 6839).
const suffixed = /^application\/[\w!#$&^.+-]+\+json(?:$|[\s;])/i

/** Adds the strict parser for JSON bodies, unless the service has added its own. */
export function addJsonParsers(app: FastifyInstance, maxDepth: number): void {
  const parser = jsonBodyParser(app, maxDepth)
  for (const [type, add] of [
    ['application/json', () => addReplaceableParser(app, { parseAs: 'buffer' }, parser)],
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

/**
 * Creates the parser for JSON bodies. It rejects input that JSON.parse accepts but databases and serializers cannot process: bytes
 * that are not UTF-8, nesting deeper than `maxDepth`, U+0000, unpaired surrogates, numbers that are not finite, and integers that
 * would lose digits. Without a body it accepts the media type on a route that declares none, because many HTTP clients always send it.
 */
function jsonBodyParser(app: FastifyInstance, maxDepth: number): FastifyBodyParser<Buffer> {
  const parse = app.getDefaultJsonParser('error', 'error') as FastifyBodyParser<string>
  return (request: CheckedRequest, bytes: Buffer, done) => {
    if (bytes.length === 0 && request.routeOptions.schema?.body === undefined) return done(null, undefined)
    if (!isUtf8(bytes)) return done(errorCatalogueErrors.create('INVALID_UTF8'), undefined)
    const text = bytes.toString('utf8')
    // In valid UTF-8 that parses as JSON, only an escape can produce a NUL or an unpaired surrogate.
    const mayHaveOddStrings = text.includes('\\u')
    const mayLoseDigits = longNumber.test(text)
    void parse(request, text, (error, value) => {
      if (error) return done(error, undefined)
      const fault = faultIn(value, maxDepth, mayHaveOddStrings)
      if (fault === 'depth') return done(errorCatalogueErrors.create('JSON_TOO_DEEP', { params: { limit: maxDepth } }), undefined)
      const errors = fault || mayLoseDigits ? unstorableValues(mayLoseDigits ? withInexactMarked(text) : value) : []
      if (errors.length > 0) return done(invalidPart('body', errors), undefined)
      request[bodyIsChecked] = true
      return done(null, value)
    })
  }
}

// Finds, outside of strings, every integer of 16 digits or more and every exponent that can exceed the range of numbers.
const longNumber = /(?:^|[:,[\s])-?(?:\d{16}|[\d.]+e\+?\d{3})/i

/** Parses JSON again, with {@link inexact} in place of each number whose digits a JavaScript number cannot hold. */
function withInexactMarked(text: string): unknown {
  return JSON.parse(text, ((_key: string, value: unknown, { source = '' }: { source?: string }) =>
    typeof value === 'number' && losesDigits(source, value) ? inexact : value) as (key: string, value: unknown) => unknown)
}

function faultIn(value: unknown, levelsLeft: number, readStrings: boolean): 'depth' | 'character' | undefined {
  if (typeof value === 'string') return readStrings && isOdd(value) ? 'character' : undefined
  if (typeof value !== 'object' || value === null) return undefined
  if (levelsLeft === 0) return 'depth'
  if (Array.isArray(value)) {
    for (const item of value) {
      const fault = faultIn(item, levelsLeft - 1, readStrings)
      if (fault) return fault
    }
    return undefined
  }
  for (const key in value) {
    if (readStrings && isOdd(key)) return 'character'
    const fault = faultIn((value as Record<string, unknown>)[key], levelsLeft - 1, readStrings)
    if (fault) return fault
  }
  return undefined
}
