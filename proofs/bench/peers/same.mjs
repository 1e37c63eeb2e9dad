// Fastify and code that a team could write by its public API: the same bytes and header fields as the preset, the same token check,
// limits, tag and log line. With `databaseUrl`, the same statements on PostgreSQL.
import { hash, randomUUID } from 'node:crypto'
import Fastify, { LogController } from 'fastify'
import { logStream } from '../resources.ts'
import { addRoutes, bearer, inMemory, memoryKeys, serverOptions, verifier } from './hand-written.mjs'
import { onPostgres } from './on-postgres.mjs'

const security = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY'
}
const limit = 1_000_000_000
const windowMs = 3_600_000

export async function serve({ databaseUrl }) {
  const app = Fastify({
    ...serverOptions,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    logger: { level: 'info', stream: logStream() }
  })
  const { data, keys } = databaseUrl === undefined ? { data: await inMemory(), keys: memoryKeys() } : await onPostgres(databaseUrl)
  const verify = verifier()
  const [addresses, clients] = [counter(), counter()]

  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(security).header('request-id', request.id)
    const address = addresses(request.ip)
    if (request.routeOptions.url === '/v1/tokens') {
      reply.header('ratelimit-policy', `"address";q=${limit};w=3600`).header('ratelimit', `"address";${address}`)
      return done()
    }
    const claims = verify(request.headers.authorization)
    if (claims === undefined) return reply.code(401).send({})
    reply.header('ratelimit-policy', `"address";q=${limit};w=3600, "client";q=${limit};w=3600`)
    reply.header('ratelimit', `"address";${address}, "client";${clients(claims.sub)}`)
    done()
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    const isError = reply.statusCode >= 400
    reply.header('vary', isError ? 'accept-language, accept, accept-encoding' : 'accept, accept-encoding')
    if (isError) reply.header('content-language', 'en')
    if (request.method !== 'GET' || isError) {
      reply.header('cache-control', 'no-store')
      return done(null, payload)
    }
    reply.header('cache-control', 'private, no-cache')
    // The time of the response is not part of the tag.
    const tag = reply.getHeader('etag') ?? `"${hash('md5', payload.slice(0, payload.lastIndexOf('"_meta"')), 'base64url')}"`
    reply.header('etag', tag)
    if (request.headers['if-none-match'] !== tag) return done(null, payload)
    reply.code(304).removeHeader('content-type').removeHeader('content-length')
    done(null, null)
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { method, url, ip: remoteAddress } = request
    const responseTimeMs = Math.round(reply.elapsedTime * 1000) / 1000
    request.log.info({ method, url, statusCode: reply.statusCode, responseTimeMs, remoteAddress }, 'request completed')
    done()
  })
  addRoutes(app, data, keys)
  return databaseUrl === undefined ? { app, headers: bearer() } : { app }
}

/** Counts the requests of each key in a window, and returns the rest of its quota. */
function counter() {
  const windows = new Map()
  return (key) => {
    const now = Date.now()
    let window = windows.get(key)
    if (window === undefined || window.end <= now) windows.set(key, (window = { end: now + windowMs, count: 0 }))
    window.count += 1
    return `r=${limit - window.count};t=${Math.ceil((window.end - now) / 1000)}`
  }
}
