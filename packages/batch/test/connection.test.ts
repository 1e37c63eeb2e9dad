import { once } from 'node:events'
import { request as call } from 'node:http'
import type { AddressInfo } from 'node:net'
import { elapsedTime } from '@concordat/test-harness/elapsed-time'
import { turns, until } from '@concordat/test-harness/until'
import t from 'tap'
import { type ReadOutcome, serviceWith } from './service.ts'

const show = { path: '/things' }

t.test('an operation has the client address, protocol and host of its batch, and cannot override them', async (t) => {
  const { app, send, outcomesOf } = await serviceWith(
    t,
    (app) =>
      app.get('/things', async ({ ip, ips, protocol, host, headers, socket, raw }) => ({
        ip,
        ips,
        protocol,
        host,
        headers,
        ports: [socket.remotePort, socket.localPort],
        destroyed: socket.destroyed,
        certificate: (socket as unknown as { getPeerCertificate(): object }).getPeerCertificate(),
        version: raw.httpVersion
      })),
    { server: { trustProxy: ['127.0.0.1'] } }
  )
  const batch = { operations: [{ id: 'a', method: 'GET', ...show, headers: { accept: 'application/json', prefer: 'wait=1' } }] }
  const seen = async (remoteAddress: string, headers: Record<string, string>) =>
    ((await send(batch, { remoteAddress, headers })).json as ReadOutcome[])[0]?.body
  const received = {
    host: 'api.example.com',
    authorization: 'Bearer x',
    'accept-language': 'es',
    traceparent: '00-1-2-03',
    'user-agent': 'test',
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'shop.example'
  }
  const behindProxy = await seen('127.0.0.1', {
    ...received,
    cookie: 'a=b',
    'x-request-id': '1',
    connection: 'keep-alive',
    'idempotency-key': 'outer'
  })
  t.match(behindProxy, { ip: '203.0.113.9', ips: ['127.0.0.1', '203.0.113.9'], protocol: 'https', host: 'shop.example', version: '1.1' })
  t.strictSame(behindProxy.headers, { accept: 'application/json', prefer: 'wait=1', ...received })
  const stranger = await seen('198.51.100.1', received)
  t.match(stranger, { ip: '198.51.100.1', protocol: 'http', host: 'api.example.com' }, 'only a trusted proxy is believed')

  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const response = await fetch(`http://127.0.0.1:${port}/batches`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(batch)
  })
  const [outcome] = (await response.json()) as ReadOutcome[]
  t.match(outcome?.body, {
    ip: '127.0.0.1',
    protocol: 'http',
    host: `127.0.0.1:${port}`,
    ports: [Number, port],
    destroyed: false,
    certificate: {}
  })
  t.match((await outcomesOf([show]))[0]?.body.headers, { accept: 'application/json' })
})

t.test('an operation of a batch over TLS is over TLS', async (t) => {
  const { send } = await serviceWith(
    t,
    (app) => {
      // The properties of a TLS socket.
      app.addHook(
        'onRequest',
        async ({ raw, url }) => void (url === '/batches' && Object.assign(raw.socket, { encrypted: true, authorized: true }))
      )
      app.get('/things', async ({ protocol, socket }) => ({ protocol, authorized: (socket as { authorized?: boolean }).authorized }))
    },
    {}
  )
  const { json } = await send({ operations: [{ id: 'a', method: 'GET', ...show }] })
  t.strictSame((json as ReadOutcome[])[0]?.body, { protocol: 'https', authorized: true })
})

t.test('when the client disconnects, the running operation is aborted and ends, and no other operation starts', async (t) => {
  const calls: string[] = []
  const aborted: string[] = []
  const running = Promise.withResolvers<void>()
  const { app } = await serviceWith(t, (app) => {
    app.addHook('onRequestAbort', async ({ url }) => void aborted.push(url))
    app.get<{ Params: { id: string } }>('/things/:id', async ({ params, signal }) => {
      calls.push(`${params.id} begins`)
      running.resolve()
      await once(signal, 'abort')
      await turns()
      calls.push(`${params.id} ends after ${(signal.reason as Error).name}`)
      return {}
    })
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const request = call({ port, host: '127.0.0.1', method: 'POST', path: '/batches', headers: { 'content-type': 'application/json' } })
  request.on('error', () => {})
  request.end(JSON.stringify({ operations: ['1', '2'].map((id) => ({ id, method: 'GET', path: `/things/${id}` })) }))
  await running.promise
  request.destroy()
  await until(() => calls.length === 2)
  await turns()
  t.strictSame(calls, ['1 begins', '1 ends after AbortError'])
  t.strictSame(aborted, ['/things/1'])
})

t.test('logs one line, and no error, for a client that disconnects during a batch', async (t) => {
  const lines: { level: number; msg: string }[] = []
  const logger = { level: 'trace', stream: { write: (line: string) => void lines.push(JSON.parse(line)) } }
  const running = Promise.withResolvers<void>()
  const { app } = await serviceWith(
    t,
    (app) => {
      app.setErrorHandler((error, request, reply) => {
        request.log.error({ err: error }, 'request failed')
        return reply.send(error)
      })
      app.get('/things', async ({ signal }) => {
        running.resolve()
        await once(signal, 'abort')
        return {}
      })
    },
    { server: { logger } }
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const request = call({ port, host: '127.0.0.1', method: 'POST', path: '/batches', headers: { 'content-type': 'application/json' } })
  request.on('error', () => {})
  const operations = Array.from({ length: 20 }, (_, index) => ({ id: String(index), method: 'GET', ...show }))
  request.end(JSON.stringify({ operations }))
  await running.promise
  request.destroy()
  await until(() => lines.some(({ msg }) => msg.startsWith('batch: the client disconnected')))
  await turns()
  t.equal(lines.filter(({ msg }) => msg.startsWith('batch:')).length, 1)
  t.strictSame(
    lines.filter(({ level }) => level > 30),
    []
  )
})

t.test('operations that have not started in time are not started, and have status 503', async (t) => {
  const time = elapsedTime(t)
  const { outcomesOf } = await serviceWith(t, (app) => {
    app.get('/things', async () => ({}))
    app.get('/things/slow', async () => {
      time.moveBy(20_001)
      return {}
    })
  })
  const outcomes = await outcomesOf([{ path: '/things' }, { path: '/things/slow' }, { path: '/things' }])
  t.strictSame(
    outcomes.map(({ status }) => status),
    [200, 200, 503]
  )
  t.match(outcomes[2], { headers: { 'retry-after': '1' }, body: { code: 'BATCH_STOPPED' } })
})

t.test('a batch that exceeded the handler timeout starts no further operations', async (t) => {
  const calls: string[] = []
  const over = Promise.withResolvers<object>()
  const { send } = await serviceWith(
    t,
    (app) =>
      app.get('/things', { handlerTimeout: 5000 }, async () => {
        calls.push('called')
        return over.promise
      }),
    { server: { handlerTimeout: 50 } }
  )
  const operations = ['1', '2', '3'].map((id) => ({ id, method: 'GET', ...show }))
  t.equal((await send({ operations })).status, 503)
  over.resolve({})
  await turns()
  t.strictSame(calls, ['called'])
})

t.test('other requests are served during a long batch that never waits', async (t) => {
  const order: string[] = []
  const { outcomesOf } = await serviceWith(t, (app) => {
    app.get('/things', async () => {
      if (order.length === 0) setImmediate(() => order.push('another'))
      const until = performance.now() + 11
      while (performance.now() < until);
      order.push('operation')
      return {}
    })
  })
  await outcomesOf([show, show, show])
  t.strictSame(order, ['operation', 'another', 'operation', 'operation'])
})

t.test('an operation cannot be a batch, even with a rewritten path', async (t) => {
  const { outcomesOf } = await serviceWith(t, (app) => app.get('/things', async () => ({})), {
    server: { rewriteUrl: ({ url = '' }) => (url === '/things/hidden' ? '/batches' : url) }
  })
  const [outcome] = await outcomesOf([{ method: 'POST', path: '/things/hidden', body: { operations: [] } }])
  t.match(outcome, { status: 409, body: { code: 'BATCH_NESTED' } })
})
