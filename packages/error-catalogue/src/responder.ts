import { reportChangedStatus } from '@concordat/plugin-kit/api-error'
import { outageLog } from '@concordat/plugin-kit/outage-log'
import type { BypassingRequest } from '@concordat/plugin-kit/wiring'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import type { Catalogue } from './catalogue.ts'
import { type ErrorResponse, factsOf, type RequestFacts, responseWriter, sendable } from './error-response.ts'
import { forReply } from './explaining-headers.ts'
import { type Failure, failureFrom, failureOf, headerFields, statusOf, translatedFailure } from './failure.ts'
import { type FinalResponse, holdResponse } from './final-response.ts'
import { resolveOptions, type Settings } from './options.ts'
import { refusedValue } from './refused-value.ts'
import { translationOf } from './translation.ts'

/** The key of the reply property that contains the final response. */
export const finalResponse: unique symbol = Symbol('concordat.finalResponse')

/** A reply with the property that contains its final response. */
export type SettledReply = FastifyReply & { [finalResponse]?: FinalResponse | null | undefined }

/** The key of the reply property that contains the newest error with its failure, so that an error is translated once. */
export const readFailure: unique symbol = Symbol('concordat.readFailure')
type FailedReply = FastifyReply & { [readFailure]?: { readonly error: unknown; readonly failure: Failure } | null }

// These headers describe the representation that was not sent.
const representationHeaders = [
  'accept-ranges',
  'content-disposition',
  'content-encoding',
  'content-length',
  'content-range',
  'etag',
  'expires',
  'last-modified',
  'location'
]

/** What {@link createResponder} returns. */
export type Responder = ReturnType<typeof createResponder>

/** Creates functions that create error responses. When a function in the options throws, the error is logged and the defaults are used. */
export function createResponder(options: Settings, catalogue: Catalogue, log: FastifyBaseLogger) {
  const write = responseWriter(options, catalogue)
  const reportFault = outageLog(log)
  const writePlainly = responseWriter(resolveOptions({ locales: options.locales }), catalogue)
  return { bare, afterHooks, settle, failureOn, failureSent }

  // Of a request that did not reach the hooks, with the headers that the plugins set on every response.
  function bare(failure: Failure, facts: RequestFacts): ErrorResponse {
    return withHeaders(responseOf(failure, facts), constantHeaders(facts.request ?? facts))
  }

  // With the headers that hooks have set on the reply.
  function afterHooks(reply: FastifyReply, failure: Failure): ErrorResponse {
    return withHeaders(responseOf(forReply(failure, reply), factsOf(reply.request)), reply.getHeaders() as Record<string, string>)
  }

  // Sets the status code and the headers of a reply, and returns the body, which the caller must send.
  function settle(reply: FastifyReply, failure: Failure): string {
    const own = reply as SettledReply
    const response = responseOf(forReply(failure, reply), factsOf(reply.request))
    for (const name of representationHeaders) reply.removeHeader(name)
    // For an unknown method Fastify creates a reply without decorators, and runs no hooks.
    if (own[finalResponse] === undefined) reply.headers(constantHeaders(reply.request))
    const vary = varyWith(reply.getHeader('vary'))
    // This serializer replaces all others, so a response schema for 4xx cannot change the envelope.
    reply.code(response.statusCode).headers(response.headers).header('vary', vary).serializer(String)
    if (own[finalResponse]) own[finalResponse].response = response
    else holdResponse(reply, (own[finalResponse] = { response, ofStatus }))
    return response.body

    function ofStatus(statusCode: number) {
      return responseOf(forReply(failureOf(catalogue.ofStatus(statusCode)), reply), factsOf(reply.request))
    }
  }

  function failureOn(reply: FastifyReply, error: unknown): Failure {
    const { [readFailure]: known, request } = reply as FailedReply
    if (known && known.error === error) return known.failure
    const validationCode = request.routeOptions.config?.validationCode ?? 'VALIDATION_FAILED'
    const refused = refusedValue(error, request) ?? error
    const failure = failureFrom(refused, catalogue, validationCode, (thrown) => translated(thrown, request))
    ;(reply as FailedReply)[readFailure] = { error, failure }
    return failure
  }

  function translated(error: unknown, request: FastifyRequest): Failure | undefined {
    if (options.translate === undefined) return undefined
    try {
      const result = translationOf(options.translate, error, request)
      return result && translatedFailure(result, catalogue)
    } catch (fault) {
      reportFault(fault, 'error-catalogue: options.translate threw an error or returned an invalid value, so a 500 is sent', request.log)
      return { ...failureOf(catalogue.ofStatus(500)), knownBy: 'translate' }
    }
  }

  // Of an error response that other code sent, whose status code takes precedence over that of the error. But an error handler that makes a 5xx of an
  // error which the suite or `translate` knows does not know it.
  function failureSent(reply: FastifyReply, error: unknown, statusCode: number, isOfHandler: boolean): Failure {
    const failure = failureOn(reply, error)
    const { knownBy } = failure
    if (statusCode === failure.statusCode || statusCode === statusOf(error)) return failure
    const isLost = isOfHandler && statusCode >= 500 && (knownBy === 'suite' || knownBy === 'translate')
    if (isOfHandler && knownBy === 'suite')
      reportChangedStatus(reply.request, failure, statusCode, isLost ? `The response has ${failure.statusCode} nevertheless. ` : '')
    return isLost ? failure : failureOf(catalogue.ofStatus(statusCode))
  }

  function responseOf(failure: Failure, facts: RequestFacts): ErrorResponse {
    try {
      return write(failure, facts)
    } catch (error) {
      log.error({ err: error }, 'error-catalogue: a function in the options threw an error, so the default response is sent')
      return writePlainly(failureOf(catalogue.find(failure.code) ?? catalogue.ofStatus(failure.statusCode)), facts)
    }
  }

  function constantHeaders(request: BypassingRequest) {
    try {
      return sendable(headerFields(options.earlyHeaders(request)))
    } catch (error) {
      log.error({ err: error }, 'error-catalogue: the headers of a response that bypasses the hooks could not be set')
      return {}
    }
  }
}

function withHeaders(response: ErrorResponse, others: Readonly<Record<string, string>>): ErrorResponse {
  return { ...response, headers: { ...others, ...response.headers, vary: varyWith(others['vary']) } }
}

// Another plugin may have set Vary already, for example CORS for Origin.
function varyWith(present: ReturnType<FastifyReply['getHeader']> = []): string {
  const names = [present].flat().join(',').toLowerCase().split(',')
  const merged = new Set([...names.map((name) => name.trim()).filter((name) => name !== ''), 'accept-language'])
  return merged.has('*') ? '*' : [...merged].join(', ')
}
