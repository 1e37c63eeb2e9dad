import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { type Answer, type Asked, answerWriter, askedOf, sendable } from './answer.ts'
import type { Catalogue } from './catalogue.ts'
import { type Failure, failureFrom, failureOf, statusOf } from './failure.ts'
import { type FinalAnswer, holdResponse } from './final-answer.ts'
import { type ResolvedErrorCatalogueOptions, resolveOptions } from './options.ts'

/** Turns failures into answers, whatever the functions among the options do. */
export interface Answering {
  /** The answer to a request that no hook has seen: constant headers and a request id are in it. */
  bare(failure: Failure, asked: Asked): Answer
  /** Gives the reply the status, headers and final body of a failure; returns the body, which is still to be sent. */
  settle(reply: FastifyReply, failure: Failure): string
  /** The failure that a thrown value means on this route. */
  failureOn(request: FastifyRequest, error: unknown): Failure
  /** The same, where somebody else has answered and chosen a status: another one than the error's own counts. */
  failureSent(request: FastifyRequest, error: unknown, statusCode: number): Failure
}

/** On each reply: the answer that was chosen for it, once there is one. */
export const finalAnswer: unique symbol = Symbol('concordat.finalAnswer')

/** A reply of an application with the error catalogue. */
export type SettledReply = FastifyReply & { [finalAnswer]?: FinalAnswer | null }

// They describe the representation that was not sent.
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

/** Binds options and catalogue together. A function among the options that throws is logged, and the defaults answer instead. */
export function createAnswering(options: ResolvedErrorCatalogueOptions, catalogue: Catalogue, log: FastifyBaseLogger): Answering {
  const write = answerWriter(options, catalogue)
  const writePlainly = answerWriter(resolveOptions({ locales: options.locales }), catalogue)
  return { bare, settle, failureOn, failureSent }

  function bare(failure: Failure, asked: Asked): Answer {
    const answer = answerOf(failure, asked)
    return { ...answer, headers: { ...constantHeaders(asked.request), ...answer.headers } }
  }

  function settle(reply: FastifyReply, failure: Failure): string {
    const own = reply as SettledReply
    const answer = answerOf(failure, askedOf(reply.request))
    for (const name of representationHeaders) reply.removeHeader(name)
    const vary = varyWith(reply.getHeader('vary'))
    // A string passes by every serializer, so a response schema for 4xx can not bend the envelope.
    reply.code(answer.statusCode).headers(answer.headers).header('vary', vary).serializer(String)
    // Fastify makes a bare reply for a method that it has never heard of, and no hook has seen it.
    if (own[finalAnswer] === undefined) reply.headers(constantHeaders(reply.request))
    if (own[finalAnswer]) own[finalAnswer].answer = answer
    else holdResponse(reply, (own[finalAnswer] = { answer, ofStatus }))
    return answer.body

    function ofStatus(statusCode: number) {
      return answerOf(failureOf(catalogue.ofStatus(statusCode)), askedOf(reply.request))
    }
  }

  function failureOn(request: FastifyRequest, error: unknown): Failure {
    return failureFrom(error, catalogue, request.routeOptions.config?.validationCode ?? 'VALIDATION_FAILED')
  }

  function failureSent(request: FastifyRequest, error: unknown, statusCode: number): Failure {
    const failure = failureOn(request, error)
    const isMeant = statusCode === failure.statusCode || statusCode === statusOf(error)
    return isMeant ? failure : failureOf(catalogue.ofStatus(statusCode))
  }

  function answerOf(failure: Failure, asked: Asked): Answer {
    try {
      return write(failure, asked)
    } catch (error) {
      log.error({ err: error }, 'a function among the options of the error catalogue threw')
      return writePlainly(failureOf(catalogue.find(failure.code) ?? catalogue.ofStatus(failure.statusCode)), asked)
    }
  }

  function constantHeaders(request?: FastifyRequest) {
    try {
      return sendable(options.answerHeaders(request))
    } catch (error) {
      log.error({ err: error }, 'answerHeaders threw')
      return {}
    }
  }
}

// Another plugin may have said already what else the answer depends on, as CORS does with Origin.
function varyWith(present: ReturnType<FastifyReply['getHeader']> = []): string {
  const names = [present].flat().join(',').toLowerCase().split(',')
  const merged = new Set([...names.map((name) => name.trim()).filter((name) => name !== ''), 'accept-language'])
  return merged.has('*') ? '*' : [...merged].join(', ')
}
