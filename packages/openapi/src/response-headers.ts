import type { JsonSchema } from '@concordat/json-schema'
import type { Header } from './document.ts'

const text: JsonSchema = { type: 'string' }

/** The entity tag in examples. */
export const exampleTag = '"33a64df5"'

/** The headers that documents describe, by name. Each is listed once, under `components/headers`. */
export const knownHeaders: Readonly<Record<string, Header>> = {
  Accept: { description: 'The supported media types of request bodies.', schema: { type: 'string', examples: ['application/json'] } },
  'Accept-Patch': { description: 'The media types that PATCH accepts.', schema: { type: 'string', examples: ['application/json'] } },
  'Accept-Post': { description: 'The media types that POST accepts.', schema: { type: 'string', examples: ['application/json'] } },
  Allow: { description: 'The methods that the resource supports.', schema: { type: 'string', examples: ['GET, HEAD, OPTIONS'] } },
  'Cache-Control': { description: 'How caches may store the response.', schema: { type: 'string', examples: ['private, no-cache'] } },
  Deprecation: {
    description: 'The time at which this version was or will be deprecated: `@` and the seconds since the Unix epoch (RFC 9745).',
    schema: { type: 'string', pattern: '^@\\d+$', examples: ['@1798761600'] }
  },
  ETag: {
    description: 'The entity tag of this representation, for If-None-Match and If-Match.',
    schema: { type: 'string', examples: [exampleTag] }
  },
  'Idempotency-Replayed': {
    description: '`true` if this is the stored response to an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] }
  },
  'Idempotency-Status': {
    description:
      '`incomplete`: this replay has no members marked `x-secret` or, for a client with many stored responses, nothing in `data` but `id` and links; fetch the resource at `Location`. `bypassed`: the key could not be stored, and a retry may be executed again.',
    schema: { type: 'string', enum: ['incomplete', 'bypassed'] }
  },
  'Last-Modified': {
    description:
      'The date of this representation, for If-Modified-Since and If-Unmodified-Since: the second after its last change. Missing during the second of a change.',
    schema: { type: 'string', examples: ['Wed, 25 Nov 2026 10:00:01 GMT'] }
  },
  Link: { description: 'Links to the deprecation notes and to the version to migrate to (RFC 8288).', schema: text },
  Location: {
    description: 'The URL of the created resource, of the status of the job, or of the result.',
    schema: { type: 'string', format: 'uri' }
  },
  RateLimit: {
    description: 'The remaining quota of each limit (`r`) and the seconds until its window ends (`t`).',
    schema: { type: 'string', examples: ['"address";r=1199;t=60'] }
  },
  'RateLimit-Policy': {
    description: 'The limits: the number of requests per window (`q`) and the length of the window in seconds (`w`).',
    schema: { type: 'string', examples: ['"address";q=1200;w=60'] }
  },
  'Retry-After': {
    description: 'The number of seconds to wait before the next request.',
    schema: { type: 'integer', minimum: 0, examples: [5] }
  },
  Sunset: {
    description: 'The time at which this version is retired (RFC 8594).',
    schema: { type: 'string', examples: ['Fri, 31 Dec 2027 23:59:59 GMT'] }
  },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string', examples: ['Bearer'] } }
}

/** Returns references to headers under `components/headers`. */
export function references(names: readonly string[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
