import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import { maxLinkLengths } from '@concordat/plugin-kit/links'
import type { Header } from '../document/document.ts'

/** The entity tag in examples. */
export const exampleTag = '"33a64df5"'

// The limits are those of the packages that write the header. A handler that writes it in their place must keep them; the check of responses reports others.
function header(description: string, example: string, limits: JsonSchema): Header {
  return { description, schema: { type: 'string', ...limits, examples: [example] } }
}

// The preferred form of an HTTP date (RFC 9110 §5.6.7).
function date(description: string, example: string): Header {
  return header(description, example, {
    pattern: String.raw`^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$`,
    maxLength: 29
  })
}

const mediaTypes = { maxLength: 1024 }
const policies = { maxLength: 1024 }
const tag = { pattern: String.raw`^(W\/)?"[!#-~\u0080-\u00ff]*"$`, maxLength: 270 }
const methods = { pattern: '^[A-Z-]+(, [A-Z-]+)*$', maxLength: 1024 }

/** The headers that documents describe, by name. Each is listed once, under `components/headers`. */
export const knownHeaders: Readonly<Record<string, Header>> = {
  Accept: header('The supported media types of request bodies.', 'application/json', mediaTypes),
  'Accept-Patch': header('The media types that PATCH accepts.', 'application/json', mediaTypes),
  'Accept-Post': header('The media types that POST accepts.', 'application/json', mediaTypes),
  Allow: header('The methods that the resource supports.', 'GET, HEAD, OPTIONS', methods),
  'Cache-Control': header('How caches may store the response.', 'private, no-cache', { maxLength: 256 }),
  Deprecation: {
    description: 'The time at which this version was or will be deprecated: `@` and the seconds since the Unix epoch (RFC 9745).',
    schema: { type: 'string', pattern: '^@\\d+$', maxLength: 17, examples: ['@1798761600'] }
  },
  'Description-Digest': header(
    'The digest of the released description of this version. A client that was made from another one can notice it.',
    'sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:',
    { pattern: '^sha-256=:[A-Za-z\\d+/]{43}=:$', maxLength: 54 }
  ),
  ETag: header('The entity tag of this representation, for If-None-Match and If-Match.', exampleTag, tag),
  'Idempotency-Replayed': {
    description: '`true` if this is the stored response to an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] }
  },
  'Idempotency-Status': {
    description:
      '`incomplete`: this replay has no members marked `x-secret` or, for a client with many stored responses, nothing in `data` but `id` and links; fetch the resource at `Location`. `bypassed`: the key could not be stored, and a retry may be executed again.',
    schema: { type: 'string', enum: ['incomplete', 'bypassed'] }
  },
  'Last-Modified': date(
    'The date of this representation, for If-Modified-Since and If-Unmodified-Since: the second after its last change. Missing during the second of a change.',
    'Wed, 25 Nov 2026 10:00:01 GMT'
  ),
  Link: {
    description: 'Links to the deprecation notes and to the version to migrate to (RFC 8288).',
    schema: { type: 'string', maxLength: 16_384 }
  },
  Location: {
    description: 'The URL of the created resource, of the status of the job, or of the result.',
    schema: { type: 'string', format: 'uri', maxLength: maxLinkLengths.href }
  },
  RateLimit: header(
    'The remaining quota of each limit (`r`) and the seconds until its window ends (`t`).',
    '"address";r=1199;t=60',
    policies
  ),
  'RateLimit-Policy': header(
    'The limits: the number of requests per window (`q`) and the length of the window in seconds (`w`).',
    '"address";q=1200;w=60',
    policies
  ),
  'Retry-After': {
    description: 'The number of seconds to wait before the next request.',
    schema: { type: 'integer', minimum: 0, examples: [5] }
  },
  Sunset: date('The time at which this version is retired (RFC 8594).', 'Fri, 31 Dec 2027 23:59:59 GMT'),
  'WWW-Authenticate': header('How to authenticate.', 'Bearer', { maxLength: 8192 })
}

/** Returns references to headers under `components/headers`. */
export function references(names: readonly string[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
