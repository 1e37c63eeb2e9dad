import type { FastifyInstance, FastifyPluginAsync, onRequestHookHandler, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { tellAborts } from './abort-notice.ts'
import { endConnections } from './closing.ts'
import { limitHandlers } from './handler-timeout.ts'
import type { HeaderBlocks } from './header-block.ts'
import { guarded, installSerializers } from './log-serializers.ts'
import { resolveOptions, type TransportSecurityOptions } from './options.ts'
import { newRequestId } from './request-id.ts'

/** Every answer has a `Request-Id` and the security headers and comes in time; no log of the service shows a credential from a URL. */
const transportSecurity: FastifyPluginAsync<TransportSecurityOptions> = async (app, options) => {
  const { blocks, serializers, handlerTimeoutMilliseconds, closeTimeoutMilliseconds } = resolveOptions(options)

  if (!installSerializers(app.log, serializers)) {
    app.log.warn('transport-security: this logger is no pino, so its lines are not cleaned. Keep URLs and headers out of them.')
  }
  makeIdsUnique(app)
  warnWithoutTimeouts(app)

  app.addHook('onRoute', guardRouteSerializers)
  app.addHook('onRequest', headerHook(blocks))
  app.addHook('onRequest', tellAborts)
  limitHandlers(app, handlerTimeoutMilliseconds)
  endConnections(app, closeTimeoutMilliseconds)
}

function makeIdsUnique(app: FastifyInstance & { genReqId?: { name: string } }) {
  // Fastify's own counter starts anew in every process. Ids that the service makes itself stay.
  if (app.genReqId?.name === 'defaultGenReqId') app.setGenReqId(newRequestId)
}

function warnWithoutTimeouts(app: FastifyInstance) {
  if (app.server.requestTimeout === 0) {
    app.log.warn('transport-security: a request may last for ever here. Make the server with Fastify({ ...transportServerOptions() }).')
  }
}

function guardRouteSerializers(route: RouteOptions) {
  if (route.logSerializers) route.logSerializers = guarded(route.logSerializers)
}

function headerHook({ http, https }: HeaderBlocks): onRequestHookHandler {
  return function sendHeaders(request, reply, done) {
    reply.headers(request.protocol === 'https' ? https : http).header('request-id', request.id)
    done()
  }
}

const sealed: FastifyPluginAsync<TransportSecurityOptions> = fp(transportSecurity, {
  name: '@concordat/transport-security',
  fastify: '>=5.10.0 <6'
})
export default sealed
