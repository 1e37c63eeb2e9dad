import { Readable } from 'node:stream'
import { observeErrorHandlers } from '@concordat/plugin-kit/api-error'
import { onEachRoute } from '@concordat/plugin-kit/findings'
import { chain, planStep, type StepRoute, stepHook } from '@concordat/plugin-kit/steps'
import { type BypassingRequest, contribute, publish, requireKnownConfig } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { transportSecurityErrors } from './errors.ts'
import { type ContentSecurityPolicy, policyHeader } from './headers/content-security-policy.ts'
import { headerBlocks } from './headers/header-block.ts'
import { newRequestId } from './headers/request-id.ts'
import { logTrace } from './headers/trace-context.ts'
import { addressReader } from './log/client-address.ts'
import { HiddenFields } from './log/hidden-fields.ts'
import { hiddenFieldsOf, type OwnedRoute } from './log/hidden-schema-fields.ts'
import { cleanLog, guarded } from './log/log-serializers.ts'
import { type LogView, logView } from './log/request-line.ts'
import { operationParts } from './operation-parts.ts'
import { type TransportSecurityOptions, transportSecurityOptions } from './options.ts'
import { followClient } from './server/abort-notice.ts'
import { admission } from './server/admission.ts'
import { checkServer, warnOfRefusals } from './server/boot-checks.ts'
import { endConnections } from './server/closing.ts'
import { isArriving, limitHandlers } from './server/handler-timeout.ts'
import { resetStalledReaders } from './server/stalled-readers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The content security policy of this route, for a page that loads resources. Other headers stay. */
    contentSecurityPolicy?: ContentSecurityPolicy | undefined
    /** Whether this route accepts requests over plain HTTP and with any host, for example for health checks that use an IP address. */
    directAccess?: boolean | undefined
  }
}

type Next = (error?: Error) => void

/**
 * Accepts only HTTPS requests for allowed hosts, adds a `Request-Id` and security headers to every response, limits how long handlers may take,
 * and keeps credentials and the fields that a schema marks as sensitive out of the log.
 */
const transportSecurity: FastifyPluginAsync<TransportSecurityOptions> = async (app, options) => {
  const settings = transportSecurityOptions.readPlugin(options)
  const blocks = headerBlocks(settings.overrides)
  const refusalOf = admission(settings)
  const hiddenFields = new HiddenFields(settings.hiddenFields)
  const view: LogView = { targetOf: (target) => hiddenFields.inTarget(target), addressOf: addressReader(settings.remoteAddress) }
  const described: OwnedRoute[] = []

  if (!cleanLog(app.log, hiddenFields, view)) {
    app.log.warn(
      'transport-security: the logger is not a pino logger, so secrets are not removed from its lines. Do not log URLs or headers.'
    )
  }
  app.decorate(logView, view)
  contribute(app, 'errors', transportSecurityErrors)
  observeErrorHandlers(app)
  makeIdsUnique(app)
  checkServer(app, settings.dangerouslyAllowHttp)

  requireKnownConfig(app, 'transport-security')
  onEachRoute(app, prepareRoute)
  app.addHook('onReady', readRoutes)
  const clock = limitHandlers(app, settings.handlerTimeoutMs)
  const requestClose = endConnections(app, settings.closeTimeoutMs)
  resetStalledReaders(app, settings.sendTimeoutMs)
  contribute(app, 'operations', () => operationParts(app))
  contribute(app, 'earlyHeaders', headersOf)
  publish(app, { handlerTimeout: { seconds: settings.handlerTimeoutMs / 1000, release: releaseReply } })
  planStep(app, 'onRequest', () => begin)
  planStep(app, 'preParsing', () => awaitBody)
  planStep(app, 'onSend', () => respond)

  function prepareRoute(this: FastifyInstance, route: RouteOptions) {
    described.push({ route, owner: this })
    if (route.logSerializers) route.logSerializers = guarded(route.logSerializers)
    if (route.config?.contentSecurityPolicy !== undefined) exceptFromPolicy(route, route.config.contentSecurityPolicy)
  }

  function readRoutes(next: Next) {
    warnOfRefusals(app, described)
    hiddenFields.add(hiddenFieldsOf(described))
    described.length = 0
    next()
  }

  function begin(request: FastifyRequest, reply: FastifyReply, route: StepRoute) {
    const isHttps = request.protocol === 'https'
    reply.headers(isHttps ? blocks.https : blocks.http).header('request-id', request.id)
    clock.start(reply)
    followClient(request.raw, reply.raw)
    if (request.headers['traceparent'] !== undefined) logTrace(request, reply)
    return refusalOf(request, isHttps, route)
  }

  function awaitBody(request: FastifyRequest, reply: FastifyReply) {
    const { raw, headers } = request
    if (isArriving(request)) raw.once('end', () => clock.restart(reply))
    // With `optimizeEmptyRequests`, the stream of a request without a body has already ended, and Fastify would wait for its end to parse it.
    return raw.readableEnded && headers['content-type'] !== undefined ? Readable.from([]) : undefined
  }

  function respond(_request: FastifyRequest, reply: FastifyReply) {
    releaseReply(reply)
  }

  function headersOf({ id, protocol }: BypassingRequest) {
    return { ...(protocol === 'https' ? blocks.https : blocks.http), 'request-id': id ?? newRequestId() }
  }

  function releaseReply(reply: FastifyReply) {
    clock.stop(reply)
    requestClose(reply)
  }
}

function makeIdsUnique(app: FastifyInstance & { genReqId?: { name: string } | undefined }) {
  // Fastify's own counter starts again in every process. A generator of the service stays.
  if (app.genReqId?.name === 'defaultGenReqId') app.setGenReqId(newRequestId)
}

function exceptFromPolicy(route: RouteOptions, policy: ContentSecurityPolicy) {
  const value = policyHeader(policy, `${String(route.method)} ${route.url}`)
  const setPolicy = stepHook('onRequest', (_request, reply) => void reply.header('content-security-policy', value))
  route.onRequest = chain('onRequest', setPolicy, route.onRequest)
}

const sealed: FastifyPluginAsync<TransportSecurityOptions> = fp(transportSecurity, {
  name: '@concordat/transport-security',
  fastify: '^5.12.1'
})
export default sealed
