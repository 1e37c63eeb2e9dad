import type { ErrorList } from '@concordat/api-error'
import { outageLog } from '@concordat/outage-log'
import { contractOf, contribute, contributions, coverUnknownPaths, isRoot, publish, requireKnownConfig } from '@concordat/plugin-wiring'
import { addStep, chain, type StepRoute, stepHook } from '@concordat/request-steps'
import { onEachRoute, readEachRoute } from '@concordat/route-findings'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { requireMappedType } from './body-types.ts'
import { type Catalogue, type CatalogueEntry, growingCatalogue, requireValidationCode } from './catalogue.ts'
import { factsOfRaw, type RequestFacts } from './error-response.ts'
import { failureOf, isOfClientThatLeft, isOurFault, isOutage } from './failure.ts'
import { isOwn, writeAtOnce } from './final-response.ts'
import { discard, isErrorEnvelope, isResponse } from './foreign-payload.ts'
import { addJsonParsers } from './json-body.ts'
import { operationParts } from './operation-parts.ts'
import { type ErrorCatalogueOptions, resolveOptions } from './options.ts'
import { writeResponse } from './raw-response.ts'
import { maxUriLength, refuseBadForm } from './request-form.ts'
import { createResponder, finalResponse, type SettledReply } from './responder.ts'
import { checkServerOptions, respondToRefusedUrl, warnOfSecondAddress } from './server-options.ts'
import { refuseUnstorable } from './storable-request.ts'
import { bodyIsChecked } from './storable-values.ts'
import { buildValidator, markPatchBodies, requireJsonSchemas } from './validators.ts'
import { installWire } from './wire.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** All error codes of this service. */
    errorCatalogue: Catalogue
  }
  interface FastifyContextConfig {
    /** The error code of the 422 response to a request that does not match the schema of this route. @default 'VALIDATION_FAILED' */
    validationCode?: string | undefined
  }
}

const thrownError = Symbol('concordat.thrownError')

/** Sends every 4xx and 5xx response in the error envelope, regardless of its cause. No input from a client ends the process. */
const errorCatalogue: FastifyPluginAsync<ErrorCatalogueOptions> = async (app, userOptions) => {
  const options = resolveOptions(userOptions, app)
  const catalogue = growingCatalogue(contributions(app, 'errors') as readonly ErrorList[], options.include, options.locales)
  const reportOutage = outageLog(app.log)
  const responder = createResponder(options, catalogue, app.log)

  requireKnownConfig(app, 'error-catalogue')
  publish(app, { maxUriLength, respondAtOnce, errorCodeOf, catalogue })
  contribute(app, 'operations', operationParts)
  app.decorate('errorCatalogue', catalogue)
  app.decorateReply(finalResponse, null)
  app.decorateReply(thrownError, null)
  app.decorateRequest(bodyIsChecked, false)
  const isSet = checkServerOptions(app)
  if (!isSet) app.setSchemaController({ compilersFactory: { buildValidator } })
  addJsonParsers(app)
  if (isRoot(app)) coverServer()
  else coverUnknownPaths(app)
  app.addHook('onReady', async () => void catalogue.entries)
  readEachRoute(app, function (route) {
    requireJsonSchemas(this, route)
  })
  onEachRoute(app, prepareRoute)
  addStep(app, 'onRequest', refuseBadForm)
  app.addHook('onError', rememberError)
  app.setErrorHandler(respondToError)
  addStep(app, 'onSend', envelopForeignError)

  // What happens before routing belongs to no context, so a plugin in a child context leaves it alone.
  function coverServer() {
    app.decorate(respondToRefusedUrl, respondToRefused)
    installWire(app, wireResponse, !isSet)
    warnOfSecondAddress(app)
  }

  function prepareRoute(route: RouteOptions) {
    markPatchBodies(route)
    // Added again as the last hook, because an onSend hook of the route can replace the error response.
    route.onSend = chain('onSend', route.onSend, stepHook('onSend', envelopForeignError))
    // After the hooks of plugins, which can read a body themselves, and before those of the route.
    route.preValidation = chain('preValidation', refuseUnstorable, route.preValidation)
    requireMappedType(route)
    requireValidationCode(route, catalogue)
  }

  // The error handler of a child context can send its own body. The thrown error is then needed to create the envelope.
  function rememberError(_request: FastifyRequest, reply: FastifyReply, error: unknown, next: () => void) {
    Object.assign(reply, { [thrownError]: error })
    next()
  }

  function respondToError(error: unknown, request: FastifyRequest, reply: FastifyReply) {
    const failure = responder.failureOn(request, error)
    if (isOutage(error, failure.statusCode)) reportOutage(error, 'request failed', logOf(request))
    else if (isOurFault(failure.statusCode) && !isOfClientThatLeft(request, error)) logOf(request).error({ err: error }, 'request failed')
    else request.log.debug({ code: failure.code }, 'request rejected')
    // Part of another response was already sent, so the only correct end is to cut it off.
    if (reply.raw.headersSent) reply.raw.destroy()
    else reply.send(responder.settle(reply, failure))
  }

  function respondAtOnce(request: FastifyRequest, reply: FastifyReply, error: Error) {
    const failure = responder.failureOn(request, error)
    if (isOutage(error, failure.statusCode)) reportOutage(error, 'request failed', logOf(request))
    contractOf(app, 'releaseReply')?.(reply)
    const response = responder.afterHooks(reply, failure)
    ;(reply as SettledReply)[finalResponse] = { response, ofStatus: () => response }
    writeAtOnce(reply, response)
  }

  function errorCodeOf(reply: FastifyReply) {
    const code = (reply as SettledReply)[finalResponse]?.response.code
    return code !== undefined && catalogue.find(code) ? code : undefined
  }

  // Handles errors that were sent without the error handler, or by the error handler of a child context.
  function envelopForeignError(request: FastifyRequest, reply: FastifyReply, _route: StepRoute, payload: unknown) {
    const { [finalResponse]: chosen, [thrownError]: thrown } = reply as SettledReply & { [thrownError]?: unknown }
    const sentStatus = isResponse(payload) ? (payload.status ?? reply.statusCode) : reply.statusCode
    if (sentStatus < 400 && !chosen) return undefined
    if (chosen ? isOwn(reply, payload, chosen) : isErrorEnvelope(payload, sentStatus)) return undefined
    discard(payload)
    // An error stays an error: no later hook can change it to a success.
    const statusCode = sentStatus < 400 && chosen ? chosen.response.statusCode : sentStatus
    return responder.settle(reply, responder.failureSent(request, thrown, statusCode))
  }

  function wireResponse(code: string, facts: RequestFacts, cause?: unknown) {
    if (cause !== undefined) app.log.error({ err: cause }, 'error-catalogue: a request failed before routing')
    return responder.bare(failureOf(catalogue.find(code) as CatalogueEntry), facts)
  }

  function respondToRefused(error: Error, request: FastifyRequest, reply: FastifyReply) {
    writeResponse(request.raw, reply.raw, responder.bare(responder.failureOn(request, error), { ...factsOfRaw(request.raw), request }))
  }
}

// With the method and the path of the route, because a service may log errors only. The URL of the request can have secrets.
function logOf({ log, method, routeOptions: { url: route } }: FastifyRequest) {
  return {
    error: (details: object, message: string) => log.error({ method, route, ...details }, message),
    info: (details: object, message: string) => log.info(details, message)
  }
}

const plugin: FastifyPluginAsync<ErrorCatalogueOptions> = fp(errorCatalogue, { name: '@concordat/error-catalogue', fastify: '^5.12.1' })
export default plugin
