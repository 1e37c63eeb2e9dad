import type { FastifyPluginAsync, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { type Asked, askedOfRaw } from './answer.ts'
import { createAnswering, finalAnswer, type SettledReply } from './answering.ts'
import { buildCatalogue, type Catalogue, type CatalogueEntry } from './catalogue.ts'
import { failureOf, isOurFault } from './failure.ts'
import type { FinalAnswer } from './final-answer.ts'
import { discard, isErrorEnvelope, isResponse } from './foreign-payload.ts'
import { addJsonParsers } from './json-body.ts'
import { type ErrorCatalogueOptions, resolveOptions } from './options.ts'
import { writeResponse } from './raw-answer.ts'
import { formErrorOf } from './request-form.ts'
import { answerRefusedUrl, hasServerOptions } from './server-options.ts'
import { buildValidator } from './validators.ts'
import { installWire } from './wire.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Every code that this service can answer with. */
    errorCatalogue: Catalogue
  }
  interface FastifyContextConfig {
    /** The code of this route's 422 when its schema refuses the request, instead of `VALIDATION_FAILED`. */
    validationCode?: string
  }
}

const thrownError = Symbol('concordat.thrownError')
type Next = (error?: Error) => void
type SendNext = (error: null, payload: unknown) => void

/** Every 4xx and 5xx leaves in the error envelope, whatever raised it, and nothing a client sends ends the process. */
const errorCatalogue: FastifyPluginAsync<ErrorCatalogueOptions> = async (app, userOptions) => {
  const options = resolveOptions(userOptions)
  const catalogue = buildCatalogue(options.include, options.locales)
  const answering = createAnswering(options, catalogue, app.log)

  app.decorate('errorCatalogue', catalogue)
  app.decorate(answerRefusedUrl, answerRefused)
  app.decorateReply(finalAnswer, null)
  app.decorateReply(thrownError, null)
  if (!hasServerOptions(app)) {
    app.log.warn('error-catalogue: give errorCatalogueServerOptions() to Fastify(); without it, broken URLs are answered by Fastify itself')
    app.setSchemaController({ compilersFactory: { buildValidator } })
  }
  addJsonParsers(app, options.maxJsonDepth)
  installWire({ app, answerOf: wireAnswer, maxUriLength: options.maxUriLength })
  app.addHook('onRoute', prepareRoute)
  app.addHook('onRequest', refuseBadForm)
  app.addHook('onError', rememberError)
  app.setErrorHandler(answerError)
  app.addHook('onSend', envelopForeignError)
  app.addHook('onListen', warnOfSecondAddress)

  function prepareRoute(route: RouteOptions) {
    // Again, last of all: a hook of the route itself may answer an error in words of its own.
    route.onSend = [route.onSend ?? [], envelopForeignError].flat()
    const code = route.config?.validationCode
    if (code === undefined || catalogue.find(code)?.statusCode === 422) return
    throw new TypeError(
      `${String(route.method)} ${route.url} names the validationCode ${code}, which is no 422 of the catalogue. Define it with defineErrors and include it.`
    )
  }

  function refuseBadForm(request: FastifyRequest, _reply: FastifyReply, next: Next) {
    next(formErrorOf(request.raw, options.maxUriLength))
  }

  // A child context may answer in words of its own; what was thrown is then needed to say it in ours.
  function rememberError(_request: FastifyRequest, reply: FastifyReply, error: unknown, next: Next) {
    Object.assign(reply, { [thrownError]: error })
    next()
  }

  function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply) {
    const failure = answering.failureOn(request, error)
    if (isOurFault(failure.statusCode)) request.log.error({ err: error }, 'request failed')
    else request.log.debug({ code: failure.code }, 'request refused')
    // Part of another answer is on its way: cutting it short is the only honest end.
    if (reply.raw.headersSent) reply.raw.destroy()
    else reply.send(answering.settle(reply, failure))
  }

  // The last net: errors answered without the error handler, or by the handler of a child context.
  function envelopForeignError(request: FastifyRequest, reply: FastifyReply, payload: unknown, next: SendNext) {
    const { [finalAnswer]: chosen, [thrownError]: thrown } = reply as SettledReply & { [thrownError]?: unknown }
    const sentStatus = isResponse(payload) ? (payload.status ?? reply.statusCode) : reply.statusCode
    if (sentStatus < 400 && !chosen) return next(null, payload)
    if (chosen ? isOwn(reply, payload, chosen) : isErrorEnvelope(payload, sentStatus)) return next(null, payload)
    discard(payload)
    // Once an error, always an error: no later hook can make a success of it.
    const statusCode = sentStatus < 400 && chosen ? chosen.answer.statusCode : sentStatus
    next(null, answering.settle(reply, answering.failureSent(request, thrown, statusCode)))
  }

  function wireAnswer(code: string, asked: Asked, cause?: unknown) {
    if (cause !== undefined) app.log.error({ err: cause }, 'a request failed before it was routed')
    return answering.bare(failureOf(catalogue.find(code) as CatalogueEntry), asked)
  }

  function answerRefused(error: Error, request: FastifyRequest, reply: FastifyReply) {
    writeResponse(request.raw, reply.raw, answering.bare(answering.failureOn(request, error), { ...askedOfRaw(request.raw), request }))
  }

  function warnOfSecondAddress(next: Next) {
    if (app.addresses().length > 1)
      app.log.warn('error-catalogue: listen on one explicit address; malformed requests to a second one are answered by Node itself')
    next()
  }
}

// HEAD has lost its body by now, and what another hook has compressed is ours in other bytes.
function isOwn(reply: FastifyReply, payload: unknown, { answer }: FinalAnswer) {
  return payload === answer.body || reply.hasHeader('content-encoding') || (reply.request.method === 'HEAD' && payload === null)
}

const plugin: FastifyPluginAsync<ErrorCatalogueOptions> = fp(errorCatalogue, { name: '@concordat/error-catalogue', fastify: '5.x' })
export default plugin
