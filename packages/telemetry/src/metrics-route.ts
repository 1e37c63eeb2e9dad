import { type BlockList, isIPv6 } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { clientAddress, isForwarded, isFromThisMachine, isLoopbackAddress } from '@concordat/plugin-kit/links'
import { contractLater, contractOf } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const contentType = 'text/plain; version=0.0.4; charset=utf-8'
// Scrapes come from addresses in a network, over plain HTTP; the hook below refuses what must not read.
const config = { operational: true, public: 'ignoring-credentials', directAccess: true, rateLimit: false, envelope: false } as const

/**
 * Adds `GET /metrics`. Scrapers may read it; others need the permission `metrics:read` and HTTPS, and without a plugin that authenticates it does
 * not exist for them.
 */
export function addMetricsRoute(app: FastifyInstance, collect: () => Promise<readonly Buffer[]>, scrapers: BlockList): void {
  const clients = contractLater(app, 'clients')
  const produces = contractOf(app, 'negotiated') && { produces: ['text/plain'] }
  app.route({ method: 'GET', url: '/metrics', config: { ...config, ...produces }, onRequest: admit, handler: send })

  async function admit(request: FastifyRequest, reply: FastifyReply) {
    if (isScraper(request)) return undefined
    const known = request.protocol === 'https' ? clients() : undefined
    if (known !== undefined) return known.requirePermissions(request, ['metrics:read'])
    request.log.info(
      'telemetry: GET /metrics was refused. Use HTTPS and a client with the permission metrics:read, or add its address to options.scrapers.'
    )
    return reply.callNotFound()
  }

  // A proxy in the list passes on requests of clients that are not.
  function isScraper(request: FastifyRequest) {
    const address = clientAddress(request.socket.remoteAddress)
    const isDirect = isLoopbackAddress(address) ? isFromThisMachine(request) : !isForwarded(request.raw)
    return isDirect && address !== undefined && scrapers.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
  }

  async function send(_request: FastifyRequest, reply: FastifyReply) {
    return reply
      .type(contentType)
      .header('cache-control', 'no-store')
      .send(Readable.from(inTurns(await collect())))
  }
}

// The system takes all parts without a turn of the event loop.
async function* inTurns(parts: readonly Buffer[]) {
  for (const part of parts) {
    yield part
    await setImmediate()
  }
}
