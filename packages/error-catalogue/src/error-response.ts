import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import type { Socket } from 'node:net'
import { fillTemplate } from '@concordat/plugin-kit/api-error'
import {
  hrefOf,
  maxLinkLengths,
  type OriginRequest,
  originResolver,
  targetWithoutSecrets,
  textWithoutTokens
} from '@concordat/plugin-kit/links'
import { contractOf } from '@concordat/plugin-kit/wiring'
import type { FastifyRequest } from 'fastify'
import type { Catalogue } from './catalogue.ts'
import type { Failure } from './failure.ts'
import type { Settings } from './options.ts'

const { STATUS_CODES, validateHeaderName, validateHeaderValue } = process.getBuiltinModule('node:http')

/** What an error response needs to know of its request, whether or not it reached Fastify. */
export interface RequestFacts {
  readonly method: string
  /** The request target from the request line. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  readonly origin: OriginRequest | undefined
  readonly request?: FastifyRequest | undefined
}

/** A complete error response. */
export interface ErrorResponse {
  readonly statusCode: number
  readonly code: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

// The description of a service publishes these limits.
const maxErrors = 100
const maxFieldLength = 1024
const maxMessageLength = 2048
const maxVersionLength = 64

// RFC 9110 renamed two reason phrases. Node.js still uses the old names.
const renamed = new Map([
  [413, 'Content Too Large'],
  [422, 'Unprocessable Content']
])

/** Returns the reason phrase of a status code, or undefined for an unregistered one. */
export function reasonPhraseOf(statusCode: number): string | undefined {
  return renamed.get(statusCode) ?? STATUS_CODES[statusCode]
}

/** Returns what is known of a request that reached the hooks. */
export function factsOf(request: FastifyRequest): RequestFacts {
  return { method: request.method, target: targetOf(request.raw), headers: request.headers, origin: request, request }
}

/** Returns what is known of a request that did not reach Fastify. */
export function factsOfRaw(raw: IncomingMessage | Http2ServerRequest): RequestFacts {
  const socket = raw.socket as Socket & { encrypted?: boolean }
  const host = raw.headers[':authority'] ?? raw.headers.host ?? ''
  return {
    method: raw.method ?? 'UNKNOWN',
    target: targetOf(raw),
    headers: raw.headers,
    origin: { protocol: socket.encrypted === true ? 'https' : 'http', host: String(host), socket }
  }
}

/** Returns the request target as the client sent it, before Fastify's `rewriteUrl`. */
export function targetOf(raw: { readonly url?: string | undefined; readonly originalUrl?: string | undefined }): string {
  return raw.originalUrl ?? raw.url ?? '/'
}

/** Creates a function that returns the error response for a failure (rules E4, E5, G1, K3). */
export function responseWriter(options: Settings, catalogue: Catalogue): (failure: Failure, facts: RequestFacts) => ErrorResponse {
  const originOf = originResolver(options)
  return (failure, facts) => {
    const { statusCode, code, validation } = failure
    const wanted = options.locale(facts.request ?? facts)
    const locale = catalogue.locales.includes(wanted) ? wanted : (catalogue.locales[0] as string)
    const entry = catalogue.find(code)
    const text =
      failure.messages?.[locale] ?? entry?.message[locale] ?? entry?.message.en ?? failure.message ?? generalText(statusCode, locale)
    // A client can make the list of an error of a plugin long.
    const errors = failure.errors.slice(0, maxErrors).map(({ field, key, params, message, messages }) => ({
      // Names of unknown parameters, and sometimes values, are texts of the client.
      field: shortened(textWithoutTokens(field), maxFieldLength),
      message: shortened(textWithoutTokens(messages?.[locale] ?? catalogue.fieldText(key, locale, params) ?? message), maxMessageLength)
    }))
    const body = JSON.stringify({
      error: {
        status: statusCode,
        error: (validation ?? entry?.validation) === true ? 'ValidationError' : reasonPhraseOf(statusCode),
        message: shortened(textWithoutTokens(fillTemplate(text, failure.params)), maxMessageLength),
        code,
        ...(errors.length > 0 ? { errors } : {})
      },
      _links: [
        {
          rel: 'self',
          href: hrefOf(originOf(facts.origin), pathOf(facts)),
          // HTTP/2 allows any text as a method.
          method: facts.method === 'HEAD' ? 'GET' : shortened(facts.method, maxLinkLengths.method)
        }
      ],
      _meta: { version: shortened(options.version(facts.request), maxVersionLength), timestamp: new Date(options.now()).toISOString() }
    })
    return { statusCode, code, headers: headersOf(failure, locale), body }
  }

  function generalText(statusCode: number, locale: string) {
    const { message } = catalogue.ofStatus(statusCode)
    return message[locale] ?? message.en
  }
}

function shortened(text: string, maxLength: number) {
  return text.length > maxLength ? text.slice(0, maxLength).toWellFormed() : text
}

function headersOf({ statusCode, headers }: Failure, locale: string): Record<string, string> {
  return {
    ...(statusCode === 503 ? { 'retry-after': '5' } : {}),
    ...sendable(headers),
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'content-language': locale,
    vary: 'accept-language'
  }
}

/** Returns the given headers without those that Node.js rejects. An invalid header must not prevent the response. */
export function sendable<Value>(headers: Readonly<Record<string, Value>>): Record<string, Value> {
  const entries = Object.entries(headers).filter(([name, value]) => {
    try {
      validateHeaderName(name)
      validateHeaderValue(name, value as string)
      return true
    } catch {
      return false
    }
  })
  return Object.fromEntries(entries)
}

// The target can be in absolute, authority or asterisk form (RFC 9112 §3.2). A link contains a path of this server.
function pathOf({ target, request }: RequestFacts) {
  const filters = request && contractOf(request.server, 'pages')?.filters(request)
  const path = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
  return targetWithoutSecrets(path.startsWith('/') ? path : '/', filters)
}
