import dns, { lookup } from 'node:dns'
import type { AddressInfo } from 'node:net'
import conventions from '@concordat/conventions'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import { generate } from 'selfsigned'
import { publicUrl } from './check-answer.ts'
import { constructorOptions, fleet, type Ship } from './fleet.ts'

// A machine whose "localhost" has two addresses, whatever this one's has.
dns.lookup = ((name: string, options: object, callback: (error: null, addresses: object[]) => void) => {
  if (name !== 'localhost') return lookup(name, options, callback as never)
  callback(null, [
    { address: '127.0.0.1', family: 4 },
    { address: '127.0.0.2', family: 4 }
  ])
}) as never

const names = process.argv.slice(2)
const certificate = names.some((name) => fleet[name]?.transport !== undefined)
  ? await generate([{ name: 'commonName', value: 'localhost' }])
  : undefined

const running = new Map<string, FastifyInstance>()
const ports: Record<string, number> = {}
for (const name of names) {
  const app = await launch(fleet[name] as Ship)
  running.set(name, app)
  ports[name] = (app.server.address() as AddressInfo).port
}

process.on('message', ({ close }: { close: string }) => void running.get(close)?.close())
process.on('disconnect', () => process.exit())
process.send?.({ ports })

async function launch(ship: Ship): Promise<FastifyInstance> {
  const app = Fastify(
    constructorOptions(ship, { key: certificate?.private, cert: certificate?.cert })
  ).withTypeProvider<TypeBoxTypeProvider>()
  await app.register(conventions, {
    publicUrl,
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    // One address sends all of it.
    rateLimiting: { addressLimit: { limit: 1_000_000, windowSeconds: 60 } },
    authentication: false
  })
  await app.apiVersion(1, async (v1) => ship.routes(v1))
  await app.listen({ port: 0, host: ship.host ?? '127.0.0.1' })
  ship.tune?.(app)
  return app
}
