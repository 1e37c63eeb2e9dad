import { randomUUID } from 'node:crypto'
import type { ErrorList } from '@concordat/plugin-kit/api-error'
import { onEachRoute, readEachRoute } from '@concordat/plugin-kit/findings'
import { outageLog } from '@concordat/plugin-kit/outage-log'
import { addStep, chain, stepHook, warnWithoutRoutes } from '@concordat/plugin-kit/steps'
import { contractOf, contribute, contributions, coverUnknownPaths, isRoot, publish, requireKnownConfig } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { applicationHandlerOf } from './application-handler.ts'
import { limitBody } from './body-limits.ts'
import { requireMappedType } from './body-types.ts'
import { type Catalogue, type CatalogueEntry, growingCatalogue, requireValidationCode } from './catalogue.ts'
import { errorHandling, logOf, replyProperties } from './error-handling.ts'
import { factsOfRaw, type RequestFacts } from './error-response.ts'
import { failureOf, isOutage } from './failure.ts'
import { writeAtOnce } from './final-response.ts'
import { addJsonParsers, partReader } from './json-body.ts'
import { operationParts } from './operation-parts.ts'
import { type ErrorCatalogueOptions, resolveOptions } from './options.ts'
import { writeResponse } from './raw-response.ts'
import { maxUriLength, refuseBadForm } from './request-form.ts'
import { createResponder, finalResponse, type SettledReply } from './responder.ts'
import { checkServerOptions, respondToRefusedUrl } from './server-options.ts'
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

/** Sends every 4xx and 5xx response in the error envelope, regardless of its cause. No input from a client ends the process. */
const errorCatalogue: FastifyPluginAsync<ErrorCatalogueOptions> = async (app, userOptions) => {
  const options = resolveOptions(userOptions, app)
  const catalogue = growingCatalogue(contributions(app, 'errors') as readonly ErrorList[], options.include, options.locales)
  const responder = createResponder(options, catalogue, app.log)
  const reportOutage = outageLog(app.log)
  const handling = errorHandling(responder, applicationHandlerOf(app), reportOutage)

  requireKnownConfig(app, 'error-catalogue')
  warnWithoutRoutes(app, 'error-catalogue')
  publish(app, {
    catalogue: {
      get entries() {
        return catalogue.entries
      },
      codeOf,
      respondAtOnce,
      maxUriLength,
      readJson: partReader(app)
    }
  })
  contribute(app, 'operations', operationParts)
  app.decorate('errorCatalogue', catalogue)
  for (const [key, value] of replyProperties) app.decorateReply(key, value)
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
  app.addHook('onError', handling.rememberError)
  app.setErrorHandler(handling.concordatErrorHandler)
  addStep(app, 'onSend', handling.envelopForeignError)

  // What happens before routing belongs to no context, so a plugin in a child context leaves it alone.
  function coverServer() {
    app.decorate(respondToRefusedUrl, respondToRefused)
    installWire(app, wireResponse, isSet)
  }

  function prepareRoute(this: FastifyInstance, route: RouteOptions) {
    limitBody(this, route)
    markPatchBodies(route)
    // Added again as the last hook, because an onSend hook of the route can replace the error response.
    route.onSend = chain('onSend', route.onSend, stepHook('onSend', handling.envelopForeignError))
    // After the hooks of plugins, which can read a body themselves, and before those of the route.
    route.preValidation = chain('preValidation', refuseUnstorable, route.preValidation)
    requireMappedType(route)
    requireValidationCode(route, catalogue)
  }

  function respondAtOnce(request: FastifyRequest, reply: FastifyReply, error: Error) {
    const failure = responder.failureOn(reply, error)
    if (isOutage(error, failure.statusCode)) reportOutage(error, 'request failed', logOf(request))
    contractOf(app, 'handlerTimeout')?.release(reply)
    const response = responder.afterHooks(reply, failure)
    ;(reply as SettledReply)[finalResponse] = { response, ofStatus: () => response }
    writeAtOnce(reply, response)
  }

  function codeOf(reply: FastifyReply) {
    const code = (reply as SettledReply)[finalResponse]?.response.code
    return code !== undefined && catalogue.find(code) ? code : undefined
  }

  function wireResponse(code: string, facts: RequestFacts, cause?: unknown) {
    const failure = failureOf(catalogue.find(code) as CatalogueEntry)
    if (cause === undefined) return responder.bare(failure, facts)
    // Such a request may have no id, and its error may come from the function that creates ids.
    const reqId = randomUUID()
    app.log.error({ err: cause, reqId }, 'error-catalogue: a request failed before routing')
    return responder.bare({ ...failure, headers: { 'request-id': reqId } }, facts)
  }

  function respondToRefused(error: Error, request: FastifyRequest, reply: FastifyReply) {
    writeResponse(request.raw, reply.raw, responder.bare(responder.failureOn(reply, error), { ...factsOfRaw(request.raw), request }))
  }
}

const plugin: FastifyPluginAsync<ErrorCatalogueOptions> = fp(errorCatalogue, { name: '@concordat/error-catalogue', fastify: '^5.12.1' })
export default plugin
