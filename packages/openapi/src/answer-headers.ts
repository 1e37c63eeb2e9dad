import type { Header } from './document.ts'
import type { JsonSchema } from './json-schema.ts'

const text: JsonSchema = { type: 'string' }

/** The headers that documents speak of, by name; they stand once under `components/headers`. */
export const knownHeaders: Readonly<Record<string, Header>> = {
  Accept: { description: 'The media types that bodies can have.', schema: { type: 'string', examples: ['application/json'] } },
  'Accept-Patch': { description: 'The media types that PATCH takes.', schema: { type: 'string', examples: ['application/json'] } },
  'Accept-Post': { description: 'The media types that POST takes.', schema: { type: 'string', examples: ['application/json'] } },
  Allow: { description: 'The methods that the resource has.', schema: { type: 'string', examples: ['GET, HEAD, OPTIONS'] } },
  'Cache-Control': { description: 'How the answer may be kept.', schema: { type: 'string', examples: ['private, no-cache'] } },
  Deprecation: {
    description: 'From when on this version is deprecated: `@` and seconds since 1970 (RFC 9745).',
    schema: { type: 'string', pattern: '^@\\d+$', examples: ['@1798761600'] }
  },
  ETag: {
    description: 'The tag of this representation, for If-None-Match and If-Match.',
    schema: { type: 'string', examples: ['"33a64df5"'] }
  },
  'Idempotency-Replayed': { description: '`true` on an answer that was stored under the key.', schema: { type: 'string', enum: ['true'] } },
  Link: { description: 'Related pages: the deprecation notes and the version to move to (RFC 8288).', schema: text },
  Location: {
    description: 'The URL of what was created, of the state of the work, or of the result.',
    schema: { type: 'string', format: 'uri' }
  },
  RateLimit: {
    description: 'What is left of each limit (`r`), and the seconds until its window ends (`t`).',
    schema: { type: 'string', examples: ['"address";r=1199;t=60'] }
  },
  'RateLimit-Policy': {
    description: 'The limits: requests (`q`) in a window of seconds (`w`).',
    schema: { type: 'string', examples: ['"address";q=1200;w=60'] }
  },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0, examples: [5] } },
  Sunset: { description: 'When this version ends (RFC 8594).', schema: { type: 'string', examples: ['Fri, 31 Dec 2027 23:59:59 GMT'] } },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string', examples: ['Bearer'] } }
}

/** References to headers under `components/headers`. */
export function references(names: readonly string[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
