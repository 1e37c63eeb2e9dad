// Fastify and its official plugins, with the options that their READMEs recommend for an API.
import compress from '@fastify/compress'
import etag from '@fastify/etag'
import helmet from '@fastify/helmet'
import jwt from '@fastify/jwt'
import rateLimit from '@fastify/rate-limit'
import underPressure from '@fastify/under-pressure'
import Fastify from 'fastify'
import { logStream, secret, tokens } from '../resources.ts'
import { addRoutes, bearer, inMemory, memoryKeys, serverOptions } from './hand-written.mjs'

export async function serve() {
  const app = Fastify({ ...serverOptions, logger: { level: 'info', stream: logStream() } })
  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } }
  })
  await app.register(rateLimit, { max: 1_000_000_000, timeWindow: 3_600_000 })
  await app.register(underPressure, { maxEventLoopDelay: 60_000 })
  await app.register(compress)
  await app.register(etag)
  await app.register(jwt, { secret, verify: { allowedIss: tokens.issuer, allowedAud: tokens.audience, cache: true } })
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.url !== '/v1/tokens') await request.jwtVerify()
  })
  addRoutes(app, await inMemory(), memoryKeys())
  return { app, headers: bearer() }
}
