import type { outageLog } from '@concordat/plugin-kit/outage-log'
import type { StepRoute } from '@concordat/plugin-kit/steps'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Failure, isOfClientThatLeft, isOurFault, isOutage } from '../failures/failure.ts'
import { readFailure } from '../failures/failure-reader.ts'
import type { ApplicationHandler } from './application-handler.ts'
import { isOwn } from './final-response.ts'
import { completeError, discard, isResponse } from './foreign-payload.ts'
import { finalResponse, type Responder, type SettledReply } from './responder.ts'
import { nameLanguage } from './service-texts.ts'

const thrownError = Symbol('concordat.thrownError')
const isPassedOn = Symbol('concordat.isPassedOn')
type HandledReply = SettledReply & { [thrownError]?: unknown; [isPassedOn]?: boolean }

/** The properties of a reply that are used for errors, so that all replies have the same shape. */
export const replyProperties: readonly (readonly [key: symbol, value: null | false])[] = [
  [finalResponse, null],
  [thrownError, null],
  [isPassedOn, false],
  [readFailure, null]
]

/** Returns the hooks and the error handler that send errors: thrown ones, those that an error handler of the application decides, and those sent otherwise. */
export function errorHandling(responder: Responder, application: ApplicationHandler, reportOutage: ReturnType<typeof outageLog>) {
  return { rememberError, concordatErrorHandler, envelopUnknown, envelopForeignError }

  // The error handler of the application can send its own body. The thrown error is then needed to create the envelope.
  function rememberError(_request: FastifyRequest, reply: FastifyReply, error: unknown, next: () => void) {
    const own = reply as HandledReply
    // Fastify runs these hooks a second time before it writes the message of an error without the onSend hooks.
    if (own[isPassedOn] && !own[finalResponse]) responder.settle(reply, responder.failureOn(reply, own[thrownError]))
    else own[thrownError] = error
    next()
  }

  // Its name tells api-error that an instance has no error handler of the application.
  function concordatErrorHandler(error: unknown, request: FastifyRequest, reply: FastifyReply) {
    const failure = responder.failureOn(reply, error)
    const handler = failure.knownBy === undefined ? application.current() : undefined
    // Part of another response was already sent, so the only correct end is to cut it off.
    if (reply.raw.headersSent) reply.raw.destroy()
    else if (handler !== undefined) return passOn(handler, error, request, reply)
    else reply.send(responder.settle(reply, failure))
    return logFailure(request, error, failure)
  }

  // The handler decides the status, and the final check replaces its body.
  function passOn(handler: FastifyInstance['errorHandler'], error: unknown, request: FastifyRequest, reply: FastifyReply): unknown {
    Object.assign(reply, { [thrownError]: error, [isPassedOn]: true })
    // As a rejection, because Fastify does not recognize every value that is thrown here as an error.
    return application.isNext(handler) ? Promise.reject(error) : handler(error, request, reply)
  }

  function logFailure(request: FastifyRequest, error: unknown, { statusCode, code }: Failure) {
    if (isOutage(error, statusCode)) reportOutage(error, 'request failed', logOf(request))
    else if (isOurFault(statusCode) && !isOfClientThatLeft(request, error)) logOf(request).error({ err: error }, 'request failed')
    else request.log.debug({ code }, 'request rejected')
  }

  // Of an unknown path: what Fastify sends would otherwise be serialized, parsed and replaced.
  function envelopUnknown(request: FastifyRequest, reply: FastifyReply, payload: unknown, next: (error: null, payload: unknown) => void) {
    next(null, request.is404 ? (envelopForeignError(request, reply, undefined, payload) ?? payload) : payload)
  }

  // Handles errors that were sent without the error handler, or by an error handler of the application.
  function envelopForeignError(request: FastifyRequest, reply: FastifyReply, _route: StepRoute | undefined, payload: unknown) {
    const { [finalResponse]: chosen, [thrownError]: thrown, [isPassedOn]: passedOn } = reply as HandledReply
    const isText = typeof payload === 'string'
    const sentStatus = !isText && isResponse(payload) ? (payload.status ?? reply.statusCode) : reply.statusCode
    // A handler that sets no status sends 200. A redirection is what it intends.
    const isSuccess = sentStatus < 400 && !(passedOn && sentStatus < 300)
    if (isSuccess && !chosen) return nameLanguage(request, reply)
    if (chosen && isOwn(reply, payload, chosen)) return undefined
    const complete = chosen ? undefined : completeError(payload, sentStatus)
    if (complete !== undefined) return responder.sendAgain(reply, complete)
    discard(payload)
    // An error stays an error: no later hook can change it to a success.
    const statusCode = sentStatus < 400 ? (chosen?.response.statusCode ?? 500) : sentStatus
    const failure = responder.failureSent(reply, thrown, statusCode, !chosen)
    if (!chosen && thrown !== null) logFailure(request, thrown, failure)
    return responder.settle(reply, failure)
  }
}

// With the method and the path of the route, because a service may log errors only. The URL of the request can have secrets.
export function logOf({ log, method, routeOptions: { url: route } }: FastifyRequest) {
  return {
    error: (details: object, message: string) => log.error({ method, route, ...details }, message),
    info: (details: object, message: string) => log.info(details, message)
  }
}
