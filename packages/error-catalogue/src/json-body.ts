import { isUtf8 } from 'node:buffer'
import type { FastifyBodyParser, FastifyInstance, FastifyRequest } from 'fastify'
import { errorCatalogueErrors } from './errors.ts'
import { addReplaceableParser } from './replaceable-parser.ts'

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
 * that are not UTF-8, U+0000, unpaired surrogates, and nesting deeper than `maxDepth`.
 */
function jsonBodyParser(app: FastifyInstance, maxDepth: number): FastifyBodyParser<Buffer> {
  const parse = app.getDefaultJsonParser('error', 'error') as FastifyBodyParser<string>
  return (request: FastifyRequest, bytes: Buffer, done) => {
    if (!isUtf8(bytes)) return done(errorCatalogueErrors.create('INVALID_UTF8'), undefined)
    const text = bytes.toString('utf8')
    // In valid UTF-8 that parses as JSON, only an escape can produce a NUL or an unpaired surrogate.
    const mayHaveOddStrings = text.includes('\\u')
    void parse(request, text, (error, value) => {
      if (error) return done(error, undefined)
      const fault = faultIn(value, maxDepth, mayHaveOddStrings)
      if (fault === 'depth') return done(errorCatalogueErrors.create('JSON_TOO_DEEP', { params: { limit: maxDepth } }), undefined)
      if (fault === 'character') return done(errorCatalogueErrors.create('INVALID_CHARACTER'), undefined)
      return done(null, value)
    })
  }
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

function isOdd(text: string) {
  return text.includes('\0') || !text.isWellFormed()
}
