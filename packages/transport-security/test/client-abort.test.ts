// `request.signal`, `onRequestAbort` and `handlerTimeout` follow the response, whether or not a body has been read.
import { once } from 'node:events'
import { request as requestHttp1 } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { finished } from 'node:stream/promises'
import { turns } from '@concordat/test-harness/until'
import transportSecurity, { transportSecurityServerOptions } from '@concordat/transport-security'
import Fastify, { type FastifyInstance, type RouteOptions } from 'fastify'
import t, { type Test } from 'tap'
import { localHttp } from './local-http.ts'

/** A request that a client has sent and whose response it awaits. */
interface Exchange {
  readonly text: Promise<string>
  leave(): void
}
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

const servers: Readonly<Record<string, () => FastifyInstance>> = {
  'HTTP/1': () => Fastify(transportSecurityServerOptions()),
  'HTTP/1 without the server options': () => Fastify(),
  'HTTP/1 with a logger': () => Fastify({ ...transportSecurityServerOptions(), logger: { level: 'silent' } }),
  'HTTP/2': () => Fastify({ http2: true }) as unknown as FastifyInstance
}
const bodies: Readonly<Record<string, string>> = { small: '{"id":"1"}', large: JSON.stringify({ id: 'x'.repeat(300_000) }) }
const requests: readonly (readonly [method: Method, body: string | undefined])[] = [
  ['GET', undefined],
  ['DELETE', undefined],
  ...(['POST', 'PUT', 'PATCH', 'DELETE'] as const).flatMap((method) => Object.values(bodies).map((body) => [method, body] as const))
]

async function listen(t: Test, name: string, route: Partial<RouteOptions> & Pick<RouteOptions, 'handler'>) {
  const app = (servers[name] as () => FastifyInstance)()
  t.teardown(() => app.close())
  await app.register(transportSecurity, { ...localHttp, handlerTimeoutSeconds: 600 })
  app.route({ method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], url: '/', ...route })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return (method: Method, body?: string) => (name === 'HTTP/2' ? overHttp2(port, method, body) : overHttp1(port, method, body))
}

function overHttp1(port: number, method: Method, body: string | undefined): Exchange {
  const headers = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const sent = requestHttp1({ host: '127.0.0.1', port, method, agent: false, headers })
  sent.on('error', () => {})
  sent.end(body)
  const text = once(sent, 'response').then(async ([response]) => Buffer.concat(await response.toArray()).toString())
  text.catch(() => {})
  return { text, leave: () => sent.destroy() }
}

function overHttp2(port: number, method: Method, body: string | undefined): Exchange {
  const client = connectHttp2(`http://127.0.0.1:${port}`)
  client.on('error', () => {})
  const stream = client.request(
    { ':method': method, ...(body !== undefined && { 'content-type': 'application/json' }) },
    { endStream: body === undefined }
  )
  stream.on('error', () => {})
  if (body !== undefined) stream.end(body)
  const text = stream.toArray().then((parts) => Buffer.concat(parts).toString())
  text.then(
    () => client.close(),
    () => {}
  )
  return { text, leave: () => client.destroy() }
}

for (const name of Object.keys(servers))
  t.test(`${name}: request.signal is not aborted while a client waits for the response`, async (t) => {
    const events: string[] = []
    const open = await listen(t, name, {
      onRequest: async (request) => {
        if (request.headers['content-length'] !== '10') return
        request.signal.addEventListener('abort', () => events.push('aborted'))
      },
      onRequestAbort: async () => void events.push('hook'),
      handler: async ({ signal, raw }) => {
        const states = [signal.aborted]
        // A body has been read by now; everything that Node.js does after its end has happened.
        await turns()
        states.push(signal.aborted)
        await finished(raw, { writable: false })
        return [...states, signal.aborted, events.length]
      }
    })
    for (const [method, body] of requests.filter(([, body]) => body !== undefined))
      t.equal(await open(method, body).text, '[false,false,false,0]', `${method} ${body?.length}`)
  })

for (const name of Object.keys(servers))
  t.test(
    `${name}: a client that leaves aborts request.signal and runs onRequestAbort once, whenever the signal is first read`,
    async (t) => {
      for (const [method, body] of requests)
        for (const reads of ['before', 'after'] as const) {
          const events: string[] = []
          const requested = Promise.withResolvers<void>()
          const ended = Promise.withResolvers<void>()
          const open = await listen(t, name, {
            onRequestAbort: async () => void events.push('hook'),
            handler: async (request) => {
              if (reads === 'after') await turns()
              const { signal } = request
              requested.resolve()
              if (!signal.aborted) await once(signal, 'abort')
              events.push('signal')
              await turns()
              ended.resolve()
            }
          })
          const exchange = open(method, body)
          await requested.promise
          exchange.leave()
          await ended.promise
          t.strictSame(events.toSorted(), ['hook', 'signal'], `${method} ${body?.length} ${reads}`)
        }
    }
  )

t.test('a client that leaves while it sends a body aborts request.signal and runs onRequestAbort once', async (t) => {
  const events: string[] = []
  const requested = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  const app = Fastify(transportSecurityServerOptions())
  t.teardown(() => app.close())
  await app.register(transportSecurity, localHttp)
  app.post('/', {
    onRequest: async ({ signal }) => {
      signal.addEventListener('abort', () => {
        events.push('signal')
        left.resolve()
      })
      requested.resolve()
    },
    onRequestAbort: async () => void events.push('hook'),
    handler: async () => 'never'
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const sent = requestHttp1({
    host: '127.0.0.1',
    port: (app.server.address() as AddressInfo).port,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': 100 }
  })
  sent.on('error', () => {})
  sent.write('{')
  await requested.promise
  sent.destroy()
  await left.promise
  await turns()
  t.strictSame(events.toSorted(), ['hook', 'signal'])
})

t.test('an injected request is aborted by its signal, and not by the end of its body', async (t) => {
  const app = Fastify(transportSecurityServerOptions())
  t.teardown(() => app.close())
  await app.register(transportSecurity, localHttp)
  const requested = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  app.get('/', async ({ signal }) => {
    requested.resolve()
    await once(signal, 'abort')
    left.resolve()
    return 'aborted'
  })
  app.post('/', async ({ signal }) => {
    await turns()
    return signal.aborted
  })
  t.equal((await app.inject({ method: 'POST', url: '/', payload: { id: '1' } })).body, 'false')
  const client = new AbortController()
  const response = app.inject({ url: '/', signal: client.signal })
  await requested.promise
  client.abort()
  await left.promise
  await response.catch(() => {})
})

for (const name of ['HTTP/1', 'HTTP/2'])
  t.test(`${name}: handlerTimeout of a route applies to requests with a body, and aborts request.signal`, async (t) => {
    const open = await listen(t, name, {
      handlerTimeout: 50,
      handler: async ({ signal }) => {
        await turns()
        if (!signal.aborted) await once(signal, 'abort')
        await new Promise(() => {})
      }
    })
    for (const body of Object.values(bodies)) t.match(JSON.parse(await open('POST', body).text), { code: 'FST_ERR_HANDLER_TIMEOUT' })
  })
