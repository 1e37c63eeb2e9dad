import { once } from 'node:events'
import { connect } from 'node:http2'
import type { AddressInfo } from 'node:net'
import conventions, { serverOptions } from '@concordat/conventions'
import { turns, until } from '@concordat/test-harness/until'
import Fastify, { type FastifyInstance } from 'fastify'
import { generate } from 'selfsigned'
import t, { type Test } from 'tap'

const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }])

/** Starts a service whose handlers wait, and opens a session that sends requests without regard to the limit of the server. */
async function start(t: Test, scheme: 'http' | 'https') {
  const server = { ...serverOptions(), http2: true, ...(scheme === 'https' && { https: { key, cert } }) }
  const app = Fastify(server as object) as unknown as FastifyInstance
  await app.register(conventions, {
    versions: { 1: { status: 'current' } },
    authentication: false,
    openapi: false,
    transportSecurity: { dangerouslyAllowHttp: 'loopback' }
  })
  const released = Promise.withResolvers<void>()
  let active = 0
  let most = 0
  app.get('/orders', async () => {
    active += 1
    most = Math.max(most, active)
    await released.promise
    active -= 1
    return {}
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const url = `${scheme}://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  const session = connect(url, { rejectUnauthorized: false, peerMaxConcurrentStreams: 2 ** 31 })
  t.teardown(async () => {
    session.destroy()
    await app.close()
  })
  await once(session, 'remoteSettings')
  const requests = (count: number) =>
    Array.from({ length: count }, async () => {
      const stream = session.request({ ':path': '/orders' }).resume()
      const [headers] = await once(stream, 'response')
      return headers[':status'] as number
    })
  return { requests, released, active: () => active, most: () => most }
}

const limit = 100

for (const scheme of ['http', 'https'] as const)
  t.test(`over HTTP/2 and ${scheme}, at most ${limit} requests of a connection are processed at a time`, async (t) => {
    const { requests, released, active, most } = await start(t, scheme)
    const statuses = requests(3 * limit)
    await until(() => active() === limit)
    await turns()
    t.equal(active(), limit)
    released.resolve()
    t.strictSame(new Set(await Promise.all(statuses)), new Set([200]), 'the others wait, and are processed then')
    t.equal(most(), limit)
  })
