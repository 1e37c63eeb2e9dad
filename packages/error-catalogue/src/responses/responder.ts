import { outageLog } from '@concordat/plugin-kit/outage-log'
import { varyWith } from '@concordat/plugin-kit/steps'
import type { BypassingRequest } from '@concordat/plugin-kit/wiring'
import type { FastifyBaseLogger, FastifyReply } from 'fastify'
import type { TranslatedCatalogue } from '../catalogue/catalogue.ts'
import { forReply } from '../failures/explaining-headers.ts'
import { type Failure, failureOf, headerFields } from '../failures/failure.ts'
import { failureReader } from '../failures/failure-reader.ts'
import { resolveOptions, type Settings } from '../options.ts'
import { type CompleteError, type ErrorResponse, factsOf, type RequestFacts, responseWriter, sendable } from './error-response.ts'
import { type FinalResponse, holdResponse } from './final-response.ts'

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

/** What {@link createResponder} returns. */
export type Responder = ReturnType<typeof createResponder>

/** Creates functions that create error responses. When a function in the options throws, the error is logged and the defaults are used. */
export function createResponder(options: Settings, catalogue: TranslatedCatalogue, log: FastifyBaseLogger) {
  const writer = responseWriter(options, catalogue)
  const plainWriter = responseWriter(resolveOptions({ locales: options.locales, timeZone: options.timeZone }), catalogue)
  return { bare, afterHooks, settle, sendAgain, ...failureReader(options, catalogue, outageLog(log)) }

  // Of a request that did not reach the hooks, with the headers that the plugins set on every response.
  function bare(failure: Failure, facts: RequestFacts): ErrorResponse {
    return withHeaders(responseOf(failure, facts), constantHeaders(facts.request ?? facts))
  }

  // With the headers that hooks have set on the reply.
  function afterHooks(reply: FastifyReply, failure: Failure): ErrorResponse {
    return withHeaders(
      responseOf(forReply(failure, reply, catalogue), factsOf(reply.request)),
      reply.getHeaders() as Record<string, string>
    )
  }

  // Sets the status code and the headers of a reply, and returns the body, which the caller must send.
  function settle(reply: FastifyReply, failure: Failure): string {
    const own = reply as SettledReply
    const response = responseOf(forReply(failure, reply, catalogue), factsOf(reply.request))
    // Each removal makes the headers of a reply slower to read and to send.
    for (const name of representationHeaders) if (reply.hasHeader(name)) reply.removeHeader(name)
    // For an unknown method Fastify creates a reply without decorators, and runs no hooks.
    if (own[finalResponse] === undefined) reply.headers(constantHeaders(reply.request))
    const vary = varyWith(reply.getHeader('vary'), response.headers['vary'] as string)
    // This serializer replaces all others, so a response schema for 4xx cannot change the envelope.
    reply.code(response.statusCode).headers(response.headers).header('vary', vary).serializer(String)
    if (own[finalResponse]) own[finalResponse].response = response
    else holdResponse(reply, (own[finalResponse] = { response, ofStatus }))
    return response.body

    function ofStatus(statusCode: number) {
      return responseOf(forReply(failureOf(catalogue.ofStatus(statusCode)), reply, catalogue), factsOf(reply.request))
    }
  }

  // Returns the body of a complete error in another form, whose media type it sets, or undefined if it is sent as it is.
  function sendAgain(reply: FastifyReply, error: CompleteError): string | undefined {
    try {
      const other = writer.inOtherForm(error, reply.request)
      if (other !== undefined) reply.type(other.mediaType).removeHeader('content-length')
      return other?.body
    } catch {
      // A handler sent a body that only looks like an error of this project.
      return undefined
    }
  }

  function responseOf(failure: Failure, facts: RequestFacts): ErrorResponse {
    try {
      return writer.write(failure, facts)
    } catch (error) {
      log.error({ err: error }, 'error-catalogue: a function in the options threw an error, so the default response is sent')
      return plainWriter.write(failureOf(catalogue.find(failure.code) ?? catalogue.ofStatus(failure.statusCode)), facts)
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
  return { ...response, headers: { ...others, ...response.headers, vary: varyWith(others['vary'], response.headers['vary'] as string) } }
}
