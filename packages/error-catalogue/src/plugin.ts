import { channel } from 'node:diagnostics_channel'
import type { ErrorList } from '@concordat/plugin-kit/api-error'
import { onEachRoute, readEachRoute } from '@concordat/plugin-kit/findings'
import { outageLog } from '@concordat/plugin-kit/outage-log'
import { chain, planStep, stepHook, warnWithoutRoutes } from '@concordat/plugin-kit/steps'
import { contractOf, contribute, contributions, coverUnknownPaths, isRoot, publish, requireKnownConfig } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { limitBody } from './bodies/body-limits.ts'
import { requireMappedType } from './bodies/body-types.ts'
import { addJsonParsers, partReader } from './bodies/json-body.ts'
import { refuseUnstorable } from './bodies/storable-request.ts'
import { bodyIsChecked } from './bodies/storable-values.ts'
import { type Catalogue, growingCatalogue, requireValidationCode, withParents } from './catalogue/catalogue.ts'
import { operationParts } from './catalogue/operation-parts.ts'
import { noteHandlers } from './catalogue/outcome.ts'
import { requireTexts } from './catalogue/text-checks.ts'
import { readTranslations } from './catalogue/translations.ts'
import { isOutage } from './failures/failure.ts'
import { type ErrorCatalogueOptions, resolveOptions } from './options.ts'
import { prepareProblemDetails } from './problem-details.ts'
import { applicationHandlerOf } from './responses/application-handler.ts'
import { errorHandling, logOf, replyProperties } from './responses/error-handling.ts'
import { writeAtOnce } from './responses/final-response.ts'
import { createResponder, finalResponse, type SettledReply } from './responses/responder.ts'
import { addTextReader, type ReadText } from './responses/service-texts.ts'
import { buildValidator, markPatchBodies, requireJsonSchemas } from './schemas/validators.ts'
import { maxUriLength, refuseBadForm } from './wire/request-form.ts'
import { coverServer } from './wire/server-cover.ts'
import { checkServerOptions } from './wire/server-options.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** All error codes of this service. */
    errorCatalogue: Catalogue
  }
  interface FastifyRequest {
    /** Returns a text of a list in `options.texts` in the language of the request. The response gets this language as `Content-Language`. */
    readonly text: ReadText
  }
  interface FastifyContextConfig {
    /** The error code of the 422 response to a request that does not match the schema of this route. @default 'VALIDATION_FAILED' */
    validationCode?: string | undefined
  }
}

// Of the command that writes translation files.
const catalogues = channel('concordat.catalogues')

/** Sends every 4xx and 5xx response in the error envelope, regardless of its cause. No input from a client ends the process. */
const errorCatalogue: FastifyPluginAsync<ErrorCatalogueOptions> = async (app, userOptions) => {
  const options = resolveOptions(userOptions, app)
  const translations = readTranslations(options.translations, options.locales.flatMap(withParents))
  const catalogue = growingCatalogue(contributions(app, 'errors') as readonly ErrorList[], options, translations)
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
  contribute(app, 'operations', operationParts(options.texts.length > 0))
  app.decorate('errorCatalogue', catalogue)
  for (const [key, value] of replyProperties) app.decorateReply(key, value)
  app.decorateRequest(bodyIsChecked, false)
  addTextReader(app, options, catalogue)
  catalogues.publish({ catalogue, translations: options.translations })
  const isSet = checkServerOptions(app)
  if (!isSet) app.setSchemaController({ compilersFactory: { buildValidator } })
  addJsonParsers(app)
  // What happens before routing belongs to no context, so a plugin in a child context leaves it alone.
  if (isRoot(app)) coverServer(app, catalogue, responder, isSet)
  else coverUnknownPaths(app)
  app.addHook('onReady', async () => requireTexts(catalogue, translations, (message) => app.log.warn(message)))
  readEachRoute(app, function (route) {
    requireJsonSchemas(this, route)
  })
  onEachRoute(app, noteHandlers(app))
  onEachRoute(app, prepareRoute)
  planStep(app, 'onRequest', () => refuseBadForm)
  app.addHook('onError', handling.rememberError)
  app.setErrorHandler(handling.concordatErrorHandler)
  app.addHook('preSerialization', handling.envelopUnknown)
  planStep(app, 'onSend', () => handling.envelopForeignError)
  prepareProblemDetails(app, options)

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
}

const plugin: FastifyPluginAsync<ErrorCatalogueOptions> = fp(errorCatalogue, { name: '@concordat/error-catalogue', fastify: '^5.12.1' })
export default plugin
