import { Readable } from 'node:stream'
import t from 'tap'
import { serviceWith } from './service.ts'

const product = { type: 'object', properties: { id: { type: 'string' }, price: { type: 'number' } } }

t.test('each operation has an outcome, in the same order, equal to the response to a separate request [B1]', async (t) => {
  const calls: string[] = []
  const { app, send, outcomesOf } = await serviceWith(t, (app) => {
    app.get<{ Params: { id: string } }>('/things/:id', { schema: { response: { 200: product } } }, async ({ params }, reply) => {
      calls.push(params.id)
      reply.headers({ etag: `"${params.id}"`, 'x-secret': 'no', 'set-cookie': 'a=b' })
      return { id: params.id, price: 1.5, hidden: true }
    })
    app.post<{ Body: { name: string } }>(
      '/things',
      { schema: { body: { type: 'object', required: ['name'] } } },
      async (request, reply) => {
        calls.push(request.body.name)
        return reply.code(201).header('location', '/things/9').send(request.body)
      }
    )
    app.delete('/things/:id', async (_request, reply) => reply.code(204).send())
    app.put('/things/:id', (request, reply) => void setTimeout(() => reply.send({ read: request.body }), 5))
    app.patch('/things/:id', async () => {
      throw new Error('broken')
    })
  })
  const outcomes = await outcomesOf([
    { path: '/things/1?x=[1]' },
    { method: 'POST', path: '/things', body: { name: 'Chai "ñ"\u2028' } },
    { method: 'DELETE', path: '/things/1' },
    { method: 'PUT', path: '/things/2', body: null, headers: { 'Content-Type': 'application/json; charset=utf-8' } },
    { method: 'PATCH', path: '/things/2', body: [] },
    { method: 'POST', path: '/things', body: {} },
    { path: '/things/2/nowhere' },
    { path: '/things/7' }
  ])
  t.strictSame(
    outcomes.map(({ id, status }) => [id, status]),
    [200, 201, 204, 200, 500, 400, 404, 200].map((status, index) => [String(index), status])
  )
  const type = 'application/json; charset=utf-8'
  t.strictSame(outcomes[0], { id: '0', status: 200, headers: { etag: '"1"', 'content-type': type }, body: { id: '1', price: 1.5 } })
  t.strictSame(outcomes[1]?.headers, { location: '/things/9', 'content-type': type })
  t.strictSame(outcomes[1]?.body, { name: 'Chai "ñ"\u2028' })
  t.strictSame(outcomes[2], { id: '2', status: 204 })
  t.strictSame(outcomes[3]?.body, { read: null })
  t.match(outcomes[4]?.body, { statusCode: 500 })
  t.match(outcomes[5]?.body, { statusCode: 400, code: 'FST_ERR_VALIDATION' })
  t.strictSame(calls, ['1', 'Chai "ñ"\u2028', '7'], 'operations run one after another')

  const { text } = await send({ operations: [{ id: 'a', method: 'GET', path: '/things/3' }] })
  t.ok(text.includes(`"body":${(await app.inject('/things/3')).body}`), 'the body is copied byte for byte')
})

t.test('responses of every form become outcomes; a body that is not JSON or too large is described by its headers [B1]', async (t) => {
  const { outcomesOf } = await serviceWith(t, (app) => {
    app.get('/things/text', async (_request, reply) => reply.type('text/plain').send('hello'))
    app.get('/things/bytes', async (_request, reply) => reply.type('application/json').send(Buffer.from('{"of":"bytes"}')))
    app.get('/things/problem', async (_request, reply) => reply.type('application/problem+json').send('{"of":"text"}'))
    app.get('/things/stream', async (_request, reply) => reply.type('application/json').send(Readable.from(['{"of":', '"parts"}'])))
    app.get('/things/long', async () => ({ long: 'x'.repeat(800_000) }))
    app.get('/things/longer', async (_request, reply) =>
      reply.type('application/json').send(Readable.from(['[', `"${'x'.repeat(800_000)}"]`]))
    )
    app.get('/things/short', async () => ({}))
    app.get('/things/raw', (_request, reply) => {
      reply.hijack()
      reply.raw.setHeader('Content-Type', 'application/json')
      reply.raw.writeHead(203, 'Fine', { ETag: '"1"', Allow: ['GET', 'HEAD'] as unknown as string })
      reply.raw.write('{"of":', () => reply.raw.end(Buffer.from('"hand"}'), () => reply.raw.end()))
    })
    app.get('/things/bare', (_request, reply) => {
      reply.hijack()
      reply.raw.flushHeaders()
      t.ok(reply.raw.headersSent)
      t.throws(() => reply.raw.writeHead(200), { code: 'ERR_HTTP_HEADERS_SENT' })
      reply.raw.end(() => t.ok(reply.raw.writableFinished))
    })
  })
  const paths = ['text', 'bytes', 'problem', 'stream', 'long', 'longer', 'raw', 'bare', 'short'].map((path) => ({
    path: `/things/${path}`
  }))
  const outcomes = await outcomesOf(paths)
  t.strictSame(
    outcomes.map(({ status, headers, body }) => [status, headers?.['content-type'], headers?.['content-length'], body]),
    [
      [200, 'text/plain', '5', undefined],
      [200, 'application/json', undefined, { of: 'bytes' }],
      [200, 'application/problem+json; charset=utf-8', undefined, { of: 'text' }],
      [200, 'application/json', undefined, { of: 'parts' }],
      [200, 'application/json; charset=utf-8', '800011', undefined],
      [200, 'application/json', '800004', undefined],
      [203, 'application/json', undefined, { of: 'hand' }],
      [200, undefined, undefined, undefined],
      [200, 'application/json; charset=utf-8', undefined, {}]
    ]
  )
  t.strictSame(outcomes[6]?.headers, { etag: '"1"', allow: 'GET, HEAD', 'content-type': 'application/json' })
})

for (const text of [
  '',
  ' ',
  'hello',
  '{"of":',
  '{"of":1}}',
  '{"of":1},{"of":2}',
  "{'of':1}",
  '\uFEFF{}',
  'NaN',
  '"\n"',
  '1',
  ' [] ',
  'null'
]) {
  t.test(`a batch stays JSON when the body of an operation is ${JSON.stringify(text)}, declared as JSON [B1]`, async (t) => {
    const { outcomesOf } = await serviceWith(t, (app) => {
      app.get('/things/text', async (_request, reply) => reply.type('application/json').send(text))
    })
    let body: unknown
    try {
      body = JSON.parse(text)
    } catch {}
    const [outcome, next] = await outcomesOf([{ path: '/things/text' }, { path: '/things/none' }])
    t.strictSame([outcome?.status, outcome?.body, next?.status], [200, body, 404])
    if (body === undefined && text !== '') t.equal(outcome?.headers?.['content-length'], String(Buffer.byteLength(text)))
  })
}

t.test('listeners to the end of a response run before the next operation starts', async (t) => {
  const received: string[] = []
  const { outcomesOf } = await serviceWith(t, (app) => {
    app.addHook('onResponse', async ({ url }) => void received.push(`${url} response`))
    app.get<{ Params: { id: string } }>('/things/:id', async ({ params }, reply) => {
      received.push(`${params.id} begins`)
      for (const event of ['finish', 'close']) reply.raw.on(event, () => received.push(`${params.id} ${event}`))
      return {}
    })
  })
  await outcomesOf([{ path: '/things/1' }, { path: '/things/2' }])
  t.strictSame(
    received.slice(0, 8),
    ['1', '2'].flatMap((id) => [`${id} begins`, `/things/${id} response`, `${id} finish`, `${id} close`])
  )
})

t.test('an operation that ends without a response has status 500, and the next operations run', async (t) => {
  const lines: string[] = []
  const { outcomesOf } = await serviceWith(
    t,
    (app) => {
      app.get('/things/cut', (_request, reply) => {
        reply.raw.on('error', () => {})
        reply.raw.destroy(new Error('cut'))
        reply.raw.destroy()
      })
      app.get('/things/there', async () => ({}))
    },
    { server: { logger: { level: 'error', stream: { write: (line: string) => void lines.push(line) } } } }
  )
  const outcomes = await outcomesOf([{ path: '/things/cut' }, { path: '/things/there' }])
  t.strictSame(
    outcomes.map(({ status }) => status),
    [500, 200]
  )
  t.match(outcomes[0]?.body, { statusCode: 500, code: 'BATCH_OPERATION_FAILED' })
  t.match(lines.join(''), /was cut off/)
})

t.test('the outcome has only a status when the error response fails too', async (t) => {
  let calls = 0
  const { outcomesOf } = await serviceWith(t, (app) => app.get('/things', async () => ({})), {
    server: {
      genReqId: () => {
        calls += 1
        if (calls > 1) throw new Error('no more ids')
        return 'first'
      }
    }
  })
  t.strictSame(await outcomesOf([{ path: '/things' }]), [{ id: '0', status: 500 }])
})

t.test('responds with its own errors like any route', async (t) => {
  const { send } = await serviceWith(t, (app) => app.get('/things', async () => ({})), {
    server: { bodyLimit: 100 }
  })
  t.equal((await send({ operations: [{ id: 'a', method: 'GET', path: '/things' }] })).status, 200)
  t.match(await send({ operations: ['x'.repeat(100)] }), { status: 413 })
  t.match(await send({ operations: [] }), {
    status: 422,
    json: { statusCode: 422, code: 'BATCH_INVALID', message: /no operation was executed/ }
  })
})

t.test('log lines of operations have the id of their batch', async (t) => {
  const lines: string[] = []
  const { outcomesOf } = await serviceWith(
    t,
    (app) =>
      app.get('/things', async (request) => {
        request.log.warn('here')
        return { id: request.id }
      }),
    {
      server: {
        logger: { level: 'info', stream: { write: (line: string) => void lines.push(line) } },
        genReqId: ({ url }) => `id of ${url}`
      }
    }
  )
  const [outcome] = await outcomesOf([{ path: '/things' }])
  t.strictSame(outcome?.body, { id: 'id of /things' })
  t.match(
    lines.map((line) => JSON.parse(line) as { msg: string }).find(({ msg }) => msg === 'here'),
    { batch: 'id of /batches', reqId: 'id of /things' }
  )
})
