import type { BypassingRequest } from '@concordat/plugin-wiring'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import type { Catalogue } from './catalogue.ts'
import { type ErrorResponse, factsOf, type RequestFacts, responseWriter, sendable } from './error-response.ts'
import { type Failure, failureFrom, failureOf, headerFields, statusOf } from './failure.ts'
import { type FinalResponse, holdResponse } from './final-response.ts'
import { resolveOptions, type Settings } from './options.ts'
import { refusedValue } from './refused-value.ts'

/** The key of the reply property that contains the final response. */
export const finalResponse: unique symbol = Symbol('concordat.finalResponse')

/** A reply with the property that contains its final response. */
export type SettledReply = FastifyReply & { [finalResponse]?: FinalResponse | null | undefined }

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

/** Creates functions that create error responses. When a function in the options throws, the error is logged and the defaults are used. */
export function createResponder(options: Settings, catalogue: Catalogue, log: FastifyBaseLogger) {
  const write = responseWriter(options, catalogue)
  const writePlainly = responseWriter(resolveOptions({ locales: options.locales }), catalogue)
  return { bare, afterHooks, settle, failureOn, failureSent }

  // Of a request that did not reach the hooks, with the headers that the plugins set on every response.
  function bare(failure: Failure, facts: RequestFacts): ErrorResponse {
    return withHeaders(responseOf(failure, facts), constantHeaders(facts.request ?? facts))
  }

  // With the headers that hooks have set on the reply.
  function afterHooks(reply: FastifyReply, failure: Failure): ErrorResponse {
    return withHeaders(responseOf(failure, factsOf(reply.request)), reply.getHeaders() as Record<string, string>)
  }

  // Sets the status code and the headers of a reply, and returns the body, which the caller must send.
  function settle(reply: FastifyReply, failure: Failure): string {
    const own = reply as SettledReply
    const response = responseOf(withChallenge(failure, reply), factsOf(reply.request))
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
      return responseOf(withChallenge(failureOf(catalogue.ofStatus(statusCode)), reply), factsOf(reply.request))
    }
  }

  function failureOn(request: FastifyRequest, error: unknown): Failure {
    return failureFrom(refusedValue(error, request) ?? error, catalogue, request.routeOptions.config?.validationCode ?? 'VALIDATION_FAILED')
  }

  // Of an error response that other code sent, whose status code takes precedence over that of the error.
  function failureSent(request: FastifyRequest, error: unknown, statusCode: number): Failure {
    const failure = failureOn(request, error)
    const isMeant = statusCode === failure.statusCode || statusCode === statusOf(error)
    return isMeant ? failure : failureOf(catalogue.ofStatus(statusCode))
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

// The challenge of the error, or of another plugin on the reply, or the default.
function withChallenge(failure: Failure, reply: FastifyReply): Failure {
  if (failure.statusCode !== 401 || failure.headers['www-authenticate'] !== undefined) return failure
  const challenge = String(reply.getHeader('www-authenticate') ?? 'Bearer realm="api"')
  return { ...failure, headers: { ...failure.headers, 'www-authenticate': challenge } }
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
