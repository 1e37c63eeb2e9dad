import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import type { Socket } from 'node:net'
import {
  hrefOf,
  maxLinkLengths,
  type OriginRequest,
  originResolver,
  targetWithoutSecrets,
  textWithoutTokens
} from '@concordat/plugin-kit/links'
import { fillTemplate, type Messages } from '@concordat/plugin-kit/texts'
import { contractOf } from '@concordat/plugin-kit/wiring'
import type { FastifyRequest } from 'fastify'
import type { FoundText, TranslatedCatalogue } from '../catalogue/catalogue.ts'
import { outcomeOf } from '../catalogue/outcome.ts'
import type { Failure } from '../failures/failure.ts'
import type { Settings } from '../options.ts'
import {
  type ErrorEnvelope,
  envelopeOf,
  isBelow,
  type ProblemDocument,
  problemJson,
  problemOf,
  problemTypes,
  wantsProblem
} from './problem-document.ts'
import { knownLocale } from './service-texts.ts'

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

const jsonType = 'application/json; charset=utf-8'
const isJson = /[/+]json\b/i

// RFC 9110 renamed two reason phrases. Node.js still uses the old names.
const renamed = new Map([
  [413, 'Content Too Large'],
  [422, 'Unprocessable Content']
])

/** Returns the reason phrase of a status code, or undefined for an unregistered one. */
export function reasonPhraseOf(statusCode: number): string | undefined {
  return renamed.get(statusCode) ?? STATUS_CODES[statusCode]
}

/** Returns the name of an error: the reason phrase of its status code, or that of invalid input. */
export function titleOf(statusCode: number, validation: boolean | undefined): string {
  return validation === true ? 'ValidationError' : (reasonPhraseOf(statusCode) ?? 'Error')
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

/** A complete error that is sent again, such as a stored response. */
export type CompleteError = { readonly envelope: ErrorEnvelope } | { readonly problem: ProblemDocument }

/** What {@link responseWriter} returns. */
interface ResponseWriter {
  /** Returns the error response for a failure (rules E4, E5, G1, K3). */
  write(failure: Failure, facts: RequestFacts): ErrorResponse
  /** Returns a complete error in the form that its request asks for, or undefined if it has that form. */
  inOtherForm(error: CompleteError, request: FastifyRequest): { readonly mediaType: string; readonly body: string } | undefined
}

/** Creates the functions that write error responses: in the envelope, or as problem documents for the clients that prefer them. */
export function responseWriter(options: Settings, catalogue: TranslatedCatalogue): ResponseWriter {
  const originOf = originResolver(options)
  const addressOf = problemTypes(options)
  const prepared = new WeakMap<object, Map<string, FoundText>>()
  return { write, inOtherForm }

  function write(failure: Failure, facts: RequestFacts): ErrorResponse {
    const { statusCode, code, validation } = failure
    const locale = knownLocale(options, facts.request ?? facts)
    const entry = catalogue.find(code)
    const { text, language } = preparedText(failure, locale, entry?.message)
    // A client can make the list of an error of a plugin long.
    const errors = failure.errors.slice(0, maxErrors).map(({ field, key, params, message, messages }) => ({
      // Names of unknown parameters, and sometimes values, are texts of the client.
      field: shortened(textWithoutTokens(field), maxFieldLength),
      message: shortened(
        textWithoutTokens(catalogue.textIn(locale, params, messages)?.text ?? catalogue.fieldText(key, locale, params) ?? message),
        maxMessageLength
      )
    }))
    const envelope = {
      error: {
        status: statusCode,
        error: titleOf(statusCode, validation ?? entry?.validation),
        message: text,
        code,
        ...outcomeOf(failure, facts.request),
        ...(errors.length > 0 ? { errors } : {})
      },
      _links: linksOf(facts),
      _meta: { version: shortened(options.version(facts.request), maxVersionLength), timestamp: new Date().toISOString() }
    }
    const isProblem = wantsProblem(options.problemDetails, facts.request)
    const body = isProblem ? problemOf(envelope, typeOf(code, facts), pointersOf(failure, facts)) : envelope
    return { statusCode, code, headers: headersOf(failure, language, isProblem, isNegotiated(facts)), body: JSON.stringify(body) }
  }

  function inOtherForm(error: CompleteError, request: FastifyRequest) {
    const isProblem = wantsProblem(options.problemDetails, request)
    if (isProblem === 'problem' in error) return undefined
    const facts = factsOf(request)
    const body =
      'problem' in error
        ? envelopeOf(error.problem, linksOf(facts))
        : problemOf(error.envelope, typeOf(error.envelope.error.code, facts), [])
    return { mediaType: isProblem ? problemJson : jsonType, body: JSON.stringify(body) }
  }

  function linksOf(facts: RequestFacts) {
    return [
      {
        rel: 'self',
        href: hrefOf(originOf(facts.origin), pathOf(facts)),
        // HTTP/2 allows any text as a method.
        method: facts.method === 'HEAD' ? 'GET' : shortened(facts.method, maxLinkLengths.method)
      }
    ]
  }

  function isNegotiated({ request }: RequestFacts) {
    return request !== undefined && isBelow(request.url, options.problemDetails)
  }

  // A code that is not in the catalogue says no more than the status code (RFC 9457 §4.2.1).
  function typeOf(code: string, { origin }: RequestFacts) {
    return catalogue.find(code) === undefined ? 'about:blank' : addressOf(code, origin)
  }

  // Without values in it, the text of a code is the same for all its responses in a language.
  function preparedText(failure: Failure, locale: string, known: Messages | undefined): FoundText {
    const { statusCode, code, params, messages = known } = failure
    if (messages === undefined || Object.keys(params).length > 0) return cleanText(failure, locale, known)
    const texts = prepared.get(messages) ?? new Map<string, FoundText>()
    prepared.set(messages, texts)
    const key = `${statusCode} ${code} ${locale}`
    const text = texts.get(key) ?? cleanText(failure, locale, known)
    texts.set(key, text)
    return text
  }

  function cleanText(failure: Failure, locale: string, known: Messages | undefined): FoundText {
    const { text, language } = textOf(failure, locale, known)
    return { text: shortened(textWithoutTokens(text), maxMessageLength), language }
  }

  // An error code that no list defines has only the message of its error.
  function textOf({ statusCode, params, messages, message }: Failure, locale: string, known: Messages | undefined): FoundText {
    const found = catalogue.textIn(locale, params, messages, known)
    if (found !== undefined) return found
    if (message !== undefined) return { text: fillTemplate(message, params), language: locale }
    return catalogue.textIn(locale, params, catalogue.ofStatus(statusCode).message) as FoundText
  }
}

function shortened(text: string, maxLength: number) {
  return text.length > maxLength ? text.slice(0, maxLength).toWellFormed() : text
}

// Pointers lead to values of JSON. Of what is hidden or too long, the names are not those of the request.
function pointersOf({ errors }: Failure, { headers }: RequestFacts) {
  const isJsonBody = isJson.test(headers['content-type'] ?? '')
  return errors.slice(0, maxErrors).map(({ field, pointer }) => {
    const isUsable = pointer !== undefined && /^(?:$|\/)/.test(pointer) && pointer.isWellFormed() && pointer.length <= maxFieldLength
    return isUsable && (isJsonBody || !/^body\b/.test(field)) && textWithoutTokens(pointer) === pointer ? pointer : undefined
  })
}

function headersOf({ statusCode, headers }: Failure, language: string, isProblem: boolean, varies: boolean): Record<string, string> {
  return {
    ...(statusCode === 503 ? { 'retry-after': '5' } : {}),
    ...sendable(headers),
    'content-type': isProblem ? problemJson : jsonType,
    'cache-control': 'no-store',
    'content-language': language,
    vary: varies ? 'accept-language, accept' : 'accept-language'
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
