import type { AddressInfo, Socket } from 'node:net'
import conventions from '@concordat/conventions'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import { generate } from 'selfsigned'
import { publicUrl } from './check-response.ts'
import { constructorOptions, fleet, type Ship } from './fleet.ts'

// Simulates a machine whose "localhost" has two addresses.
await import('@concordat/test-harness/two-addresses')

interface Running {
  readonly app: FastifyInstance
  /** Every connection that the server has accepted. */
  readonly sockets: readonly Socket[]
}

// Without names, every server of the fleet.
const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(fleet)
const certificate = names.some((name) => fleet[name]?.transport !== undefined)
  ? await generate([{ name: 'commonName', value: 'localhost' }])
  : undefined

const running = new Map<string, Running>()
const ports: Record<string, number> = {}
for (const name of names) {
  const launched = await launch(fleet[name] as Ship)
  running.set(name, launched)
  ports[name] = (launched.app.server.address() as AddressInfo).port
}

process.on('message', ({ close, begun }: { close: string; begun: number }) => closeOnceBegun(running.get(close) as Running, begun))
process.on('disconnect', () => process.exit())
process.send?.({ ports })

// No event reports that the parser has read part of a head, so the bytes of the connections are checked.
function closeOnceBegun(launched: Running, begun: number) {
  if (launched.sockets.filter(({ bytesRead }) => bytesRead > 0).length < begun) setImmediate(() => closeOnceBegun(launched, begun))
  else void launched.app.close()
}

async function launch(ship: Ship): Promise<Running> {
  const app = Fastify(
    constructorOptions(ship, { key: certificate?.private, cert: certificate?.cert })
  ).withTypeProvider<TypeBoxTypeProvider>()
  const sockets: Socket[] = []
  app.server.on('connection', (socket: Socket) => sockets.push(socket))
  await app.register(conventions, {
    publicUrl,
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: true },
    // All requests come from one address.
    rateLimiting: { addressLimit: { limit: 1_000_000, windowSeconds: 60 } },
    authentication: false
  })
  await app.apiVersion(1, async (v1) => ship.routes(v1))
  await app.listen({ port: 0, host: ship.host ?? '127.0.0.1' })
  ship.tune?.(app)
  return { app, sockets }
}
