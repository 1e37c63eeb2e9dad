import { join } from 'node:path'
import type { AuthenticationOptions } from '@concordat/authentication'
import conventions, { serverOptions } from '@concordat/conventions'
import cookie from '@fastify/cookie'
import csrf from '@fastify/csrf-protection'
import formbody from '@fastify/formbody'
import httpProxy from '@fastify/http-proxy'
import multipart from '@fastify/multipart'
import requestContext from '@fastify/request-context'
import sensible from '@fastify/sensible'
import session from '@fastify/session'
import sse from '@fastify/sse'
import statics from '@fastify/static'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import underPressure from '@fastify/under-pressure'
import view from '@fastify/view'
import websocket from '@fastify/websocket'
// @ts-expect-error: the package has no types.
import ejs from 'ejs'
import Fastify, { type FastifyInstance } from 'fastify'
import metrics from 'fastify-metrics'
import { addApi } from './api.ts'
import { addPages, outside } from './pages.ts'

/** The settings of the service. */
export interface Settings {
  readonly authentication: AuthenticationOptions
  readonly publicUrl: string
  /** The URL of the old service, whose paths are served below `/legacy`. */
  readonly legacyUrl: string
  readonly sessionSecret: string
}

const folder = (name: string) => join(import.meta.dirname, '..', name)

/** Builds the service: the preset, then the plugins that it had before, and then its routes. */
export async function buildApp({ authentication, publicUrl, legacyUrl, sessionSecret }: Settings): Promise<FastifyInstance> {
  const app = Fastify(serverOptions())
  await app.register(conventions, {
    publicUrl,
    authentication,
    outside,
    versions: { 1: {} },
    versioning: { versionsPath: '/versions' },
    cors: { origin: ['https://shop.example'] },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' }
  })
  await app.register(metrics as never, { endpoint: '/metrics', clearRegisterOnInit: true })
  await app.register(underPressure, { exposeStatusRoute: '/status' })
  await app.register(statics, { root: folder('site'), prefix: '/' })
  await app.register(swagger, { openapi: { info: { title: 'Pages', version: '1' } } })
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true })
  await app.register(httpProxy, { upstream: legacyUrl, prefix: '/legacy' })
  await app.register(multipart, { limits: { fileSize: 100_000, files: 1 } })
  await app.register(formbody)
  await app.register(cookie)
  await app.register(session, { secret: sessionSecret, cookie: { secure: 'auto' } })
  await app.register(csrf, { sessionPlugin: '@fastify/session' })
  await app.register(view, { engine: { ejs }, root: folder('views') })
  await app.register(requestContext)
  await app.register(sensible)
  await app.register(websocket)
  await app.register(sse as never)
  addPages(app)
  await addApi(app)
  return app
}
