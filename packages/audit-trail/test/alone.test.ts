import { once } from 'node:events'
import { request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mock } from 'node:test'
import auditTrail, { type AuditRecord, type AuditTrailStore, memoryAuditTrailStore } from '@concordat/audit-trail'
import { auditTrailStoreContract } from '@concordat/audit-trail/testing'
import { type Contracts, publish, type RequestTransaction } from '@concordat/plugin-kit/wiring'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { movedDate } from '@concordat/test-harness/moved-date'
import { turns, until } from '@concordat/test-harness/until'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'

interface Setup {
  readonly store?: AuditTrailStore
  readonly contracts?: Partial<Contracts>
  readonly routes?: (app: FastifyInstance) => void
}

/** Starts a service with the audit trail, and returns it with its records once so many are stored. */
async function service(t: Test, { store, contracts = {}, routes }: Setup = {}) {
  const memory = memoryAuditTrailStore()
  const app = Fastify()
  t.teardown(() => app.close())
  publish(app, contracts)
  await app.register(auditTrail, { store: store ?? memory })
  app.all('/orders/:id', async (request, reply) => {
    const { status = '200' } = request.query as { readonly status?: string }
    return reply.code(Number(status)).send({})
  })
  routes?.(app)
  await app.ready()
  const records = async (count: number) => {
    await until(() => memory.source.records().length >= count)
    return memory.source.records()
  }
  return { app, memory, records }
}

t.test('passes the store contract in memory', async (t) => auditTrailStoreContract(casesOf(t), () => memoryAuditTrailStore()))

t.test('the memory store retains the last 10,000 records', async (t) => {
  const store = memoryAuditTrailStore()
  const record = {
    occurredAt: '',
    requestId: '',
    permissions: [],
    method: '',
    route: '',
    resource: '',
    path: '',
    outcome: 'committed',
    status: 200
  } as const
  await store.add(Array.from({ length: 10_002 }, (_, index) => ({ ...record, id: String(index) })))
  t.strictSame([store.source.records().length, store.source.records()[0]?.id], [10_000, '2'])
})

t.test('records each unsafe request with its outcome, and no other request', async (t) => {
  movedDate(t, Date.UTC(2027, 0, 1))
  const { app, records } = await service(t, {
    routes(app) {
      app.addHttpMethod('MKCOL')
      app.route({ method: 'MKCOL', url: '/folders', handler: async () => ({}) })
      app.get('/read', async () => ({}))
    }
  })
  const send = (method: string, url: string) => app.inject({ method: method as 'POST', url })
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'TRACE']) await send(method, '/orders/7')
  await send('GET', '/read')
  await send('POST', '/nothing')
  await send('POST', '/orders/7?status=201')
  await send('PUT', '/orders/8?status=409')
  await send('PATCH', '/orders/9?status=503')
  await send('DELETE', '/orders/7?status=204')
  await send('MKCOL', '/folders')
  const found = await records(5)
  t.strictSame(
    found.map(({ method, route, path, outcome, status }) => [method, route, path, outcome, status]),
    [
      ['POST', '/orders/:id', '/orders/7', 'committed', 201],
      ['PUT', '/orders/:id', '/orders/8', 'refused', 409],
      ['PATCH', '/orders/:id', '/orders/9', 'failed', 503],
      ['DELETE', '/orders/:id', '/orders/7', 'committed', 204],
      ['MKCOL', '/folders', '/folders', 'committed', 200]
    ]
  )
  t.match(found[0], { id: /^[\da-f-]{36}$/, occurredAt: '2027-01-01T00:00:00.000Z', requestId: /^req-/, permissions: [] })
  t.notOk('subject' in (found[0] as AuditRecord))
})

t.test('names the client, the permissions, the version and the error as the other plugins know them', async (t) => {
  const identity = { issuer: 'https://tokens.example.com', client: 'shop', subject: `a\0${'d'.repeat(300)}\ud800` }
  const { app, records } = await service(t, {
    contracts: {
      clients: { identityOf: () => identity, clientOf: () => 'ada' } as unknown as Contracts['clients'],
      versions: { nameOf: () => 'v2', prefixOf: ({ url }) => (url.startsWith('/v2') ? '/v2' : ''), declaresAccess: () => false },
      catalogue: { codeOf: () => 'ORDER_LOCKED' } as unknown as Contracts['catalogue']
    },
    routes(app) {
      app.post(
        '/v2/orders',
        { config: { permissions: ['orders:create'], otherConfigKeys: ['permissions'] } as object },
        async (_request, reply) => reply.code(409).send({})
      )
    }
  })
  await app.inject({ method: 'POST', url: '/v2/orders' })
  await app.inject({ method: 'POST', url: '/orders/7' })
  const [first, second] = await records(2)
  t.match(first, { issuer: identity.issuer, client: 'shop', permissions: ['orders:create'], version: 'v2', errorCode: 'ORDER_LOCKED' })
  t.equal(first?.subject, `a\uFFFD${'d'.repeat(254)}`, 'at most 256 characters, without NUL')
  t.strictSame([second?.version, second?.errorCode], [undefined, undefined], 'outside the versions, and a success')
})

t.test('a path has no query, no token, and at most 1,024 characters', async (t) => {
  const { app, records } = await service(t, { routes: (app) => void app.post('/*', async () => ({})) })
  const token = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJlLW9mLXRoaXMtdG9rZW4'
  await app.inject({ method: 'POST', url: `/a/${token}?access_token=${token}` })
  await app.inject({ method: 'POST', url: `/${'b'.repeat(2000)}#${token}` })
  const [first, second] = await records(2)
  t.notMatch(JSON.stringify(first), /eyJ|access_token/)
  t.equal(second?.path, `/${'b'.repeat(1023)}`)
})

t.test('a replay has no record, and a batch only if it was refused as a whole', async (t) => {
  const { app, records } = await service(t, {
    contracts: {
      idempotency: { isReplay: ({ url }) => url.includes('replay') } as Contracts['idempotency'],
      batches: { isPart: () => false, hasParts: ({ url }) => url.includes('batch') }
    }
  })
  for (const url of ['replay', 'replay?status=409', 'batch', 'batch?status=422', 'last'])
    await app.inject({ method: 'POST', url: `/orders/${url}` })
  t.strictSame(
    (await records(2)).map(({ path, status }) => [path, status]),
    [
      ['/orders/batch', 422],
      ['/orders/last', 200]
    ]
  )
})

/** A store that writes in transactions, and the transactions of a service: `commit` is called at the end of a request that did not fail. */
function transactional(commit: (work: () => Promise<void>) => Promise<void>, hasWritten = true) {
  const added: [readonly AuditRecord[], RequestTransaction | undefined][] = []
  const store: AuditTrailStore = {
    add: async (records) => void added.push([records, undefined]),
    async addWithin(record, transaction) {
      if (hasWritten) added.push([[record], transaction])
      return hasWritten
    },
    source: { records: () => [] }
  }
  const works = new Map<string, () => Promise<void>>()
  const transactionOf: Contracts['transactions']['transactionOf'] = (request) => {
    const transaction: RequestTransaction = {
      beforeCommit: (work) => void works.set(request.id, async () => work(undefined as never, undefined))
    }
    return transaction
  }
  const contracts: Partial<Contracts> = { transactions: { transactionOf, currentTransaction: () => undefined } }
  const routes = (app: FastifyInstance) => {
    app.post(
      '/changes',
      {
        onSend: async (request) => {
          const work = works.get(request.id)
          works.delete(request.id)
          if (work !== undefined) await commit(work)
        }
      },
      async (request, reply) => reply.code(Number((request.query as { status?: string }).status ?? 200)).send({})
    )
  }
  return { added, store, contracts, routes }
}

t.test('a request with a transaction is recorded in it, and not again', async (t) => {
  const { added, ...setup } = transactional((work) => work())
  const { app } = await service(t, setup)
  await app.inject({ method: 'POST', url: '/changes' })
  await app.close()
  t.equal(added.length, 1)
  t.match(added[0]?.[0], [{ path: '/changes', outcome: 'committed', status: 200 }])
  t.ok(added[0]?.[1], 'in the transaction')
})

t.test('a request is recorded after its response if it was refused, or if its transaction wrote nothing', async (t) => {
  const refusing = transactional((work) => work())
  const { app } = await service(t, refusing)
  await app.inject({ method: 'POST', url: '/changes?status=409' })
  await app.close()
  t.match(refusing.added, [[[{ outcome: 'refused', status: 409 }], undefined]])
  const reading = transactional((work) => work(), false)
  const other = await service(t, reading)
  await other.app.inject({ method: 'POST', url: '/changes' })
  await other.app.close()
  t.match(reading.added, [[[{ outcome: 'committed', status: 200 }], undefined]])
})

t.test('a failed commit is recorded with the id of the record that may have been committed', async (t) => {
  const { added, ...setup } = transactional(async (work) => {
    await work()
    throw new Error('the connection was lost during COMMIT')
  })
  const { app } = await service(t, setup)
  t.equal((await app.inject({ method: 'POST', url: '/changes' })).statusCode, 500)
  await app.close()
  const [[[within], transaction], [[after], none]] = added as [(typeof added)[0], (typeof added)[0]]
  t.ok(transaction)
  t.equal(none, undefined)
  t.strictSame({ ...within, outcome: 'failed', status: 500 }, after)
})

t.test('records a request whose client has left, with and without a body in the response', async (t) => {
  const handlers = new Map<string, PromiseWithResolvers<void>>()
  const { app, records } = await service(t, {
    routes(app) {
      app.post<{ Params: { kind: string } }>('/slow/:kind', async (request, reply) => {
        const { kind } = request.params
        const wait = handlers.get(kind) as PromiseWithResolvers<void>
        reply.raw.once('close', () => wait.resolve())
        await wait.promise
        if (kind === 'body') return {}
        void reply.code(204)
        return undefined
      })
      app.post('/hijacked', (_request, reply) => {
        reply.hijack()
        reply.raw.end('sent')
      })
    }
  })
  await app.listen({ port: 0 })
  const { port } = app.server.address() as AddressInfo
  for (const kind of ['body', 'empty']) {
    handlers.set(kind, Promise.withResolvers())
    const arrived = once(app.server, 'request')
    const sent = sendRequest({ port, method: 'POST', path: `/slow/${kind}` }).on('error', () => {})
    sent.end()
    await arrived
    await until(() => app.server.listening)
    sent.destroy()
    await records(handlers.size)
  }
  await app.inject({ method: 'POST', url: '/hijacked' })
  t.strictSame(
    (await records(3)).map(({ path, status }) => [path, status]),
    [
      ['/slow/body', 200],
      ['/slow/empty', 204],
      ['/hijacked', 200]
    ]
  )
})

t.test('the start names a missing store, and a unit of work that is registered too late', async (t) => {
  await t.rejects(async () => Fastify().register(auditTrail, {} as never), {
    message: /^audit-trail: options\.store must implement AuditTrailStore/
  })
  await t.rejects(async () => Fastify().register(auditTrail, { store: memoryAuditTrailStore(), maxPath: 5 } as never), {
    message: /^audit-trail: options\.maxPath is unknown/
  })
  const app = Fastify()
  await app.register(auditTrail, { store: memoryAuditTrailStore() })
  publish(app, { transactions: { transactionOf: () => undefined, currentTransaction: () => undefined } })
  await t.rejects(async () => app.ready(), {
    message: 'audit-trail: the unit of work must be registered before the audit trail. Register it earlier.'
  })
})

t.test('records beyond the retention are deleted each minute until few are left, also while there are no requests', async (t) => {
  mock.timers.enable({ apis: ['setInterval', 'Date'], now: 1_800_000_000_000 })
  t.teardown(() => mock.timers.reset())
  const found = [1000, 12, new Error('The database is down.'), 0]
  const sweeps: unknown[] = []
  const lines: string[] = []
  const store = {
    ...memoryAuditTrailStore(),
    async sweep(...input: unknown[]) {
      sweeps.push(input)
      const next = found.shift() as number | Error
      if (next instanceof Error) throw next
      return next
    }
  }
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => void lines.push(JSON.parse(line).msg) } } })
  await app.register(auditTrail, { store })
  await app.ready()
  for (const count of [2, 3, 4]) {
    mock.timers.tick(60_000)
    await turns()
    t.strictSame(
      sweeps,
      // A full batch is followed by another one in the same minute.
      [1, 1, 2, 3].slice(0, count).map((minute) => [1_800_000_000_000 + minute * 60_000, 1000])
    )
  }
  t.strictSame(lines, ['audit-trail: records beyond the retention were not deleted'])
  await app.close()
  mock.timers.tick(60_000)
  await turns()
  t.equal(sweeps.length, 4)
})

const id = '0a8f4e2a-7c1b-7d3e-9a5f-0123456789ab'

/** Returns the spellings of a path that lead to the same route with the same parameters. */
function* spellingsOf(folder: string) {
  const path = `/${folder}/${id}`
  for (const [index, character] of path.split('').entries()) {
    if (character === '/') continue
    for (const digits of [character.charCodeAt(0).toString(16), character.charCodeAt(0).toString(16).toUpperCase()])
      yield `${path.slice(0, index)}%${digits}${path.slice(index + 1)}`
  }
  yield `/${folder}/${id.toUpperCase()}`
  yield `/${folder}/${id
    .split('')
    .map((character) => `%${character.charCodeAt(0).toString(16)}`)
    .join('')}`
  yield `${path}?status=200#fragment`
  yield `http://localhost${path}`
}

t.test('the record of a path is the same, whatever its spelling', async (t) => {
  const { app, records } = await service(t)
  const spellings = [...spellingsOf('orders')]
  for (const url of spellings) await app.inject({ method: 'POST', url })
  const found = await records(spellings.length)
  t.strictSame(
    new Set(found.map(({ route, resource, path }) => `${route} ${resource} ${path}`)),
    new Set([`/orders/:id /orders/:id /orders/${id}`])
  )
})

t.test('a path with any route is the template with its parameters', async (t) => {
  const rows: readonly (readonly [route: string, url: string, path: string])[] = [
    ['/a/:x', '/a/x%2Fy', '/a/x%2Fy'],
    ['/a/:x', '/a/x%252Fy', '/a/x%252Fy'],
    ['/a/:x', '/a/%3F%23%25', '/a/%3F%23%25'],
    ['/a/:x', '/a/ada@example.com', '/a/ada@example.com'],
    ['/a/:x', '/a/ada%40example%2ecom', '/a/ada@example.com'],
    ['/a/:x', '/a/%C3%A9', '/a/%C3%A9'],
    ['/b/:x/c/:y', '/b/1/c/%32', '/b/1/c/2'],
    ['/d/:x-:y', '/d/1-2', '/d/1-2'],
    ['/e/:x(^\\d+)', '/e/%31', '/e/1'],
    ['/f/:x?', '/f', '/f/'],
    ['/g/::x', '/g/:x', '/g/:x'],
    ['/h/*', '/h/%61/b', '/h/a/b'],
    ['/i/:x(^(?:a|b)$)', '/i/a', '/i/a'],
    ['/j/:number', '/j/%37', '/j/7']
  ]
  const { app, records } = await service(t, {
    routes: (app) =>
      [...new Set(rows.map(([route]) => route))].forEach((route) => {
        const params = { type: 'object', properties: { number: { type: 'integer' } } }
        app.post(route, { schema: { params } }, async () => ({}))
      })
  })
  for (const [, url] of rows) await app.inject({ method: 'POST', url })
  const found = await records(rows.length)
  t.strictSame(
    found.map(({ route, path }) => [route, path]),
    rows.map(([route, , path]) => [route, path])
  )
})

// Two of the addresses are of one network.
const each = (minute: string) => [2, 2, 5, 2].map((count) => ['POST', minute, count])
const addresses = ['203.0.113.7', '203.0.113.8', '2001:db8::1', '2001:db8::2', '2001:db8:0:1::1']

t.test('of what a client is refused, the first of a minute is recorded with the number of the others', async (t) => {
  for (const status of [400, 401, 403, 404, 405, 409, 412, 413, 415, 422, 428]) {
    const clock = movedDate(t, Date.UTC(2027, 0, 1))
    const { app, memory } = await service(t)
    const flood = async () => {
      for (const remoteAddress of addresses.flatMap((address) => [address, address, address]))
        await app.inject({ method: 'POST', url: `/orders/7?status=${status}`, remoteAddress })
    }
    await flood()
    await app.inject({ method: 'PUT', url: `/orders/7?status=${status}`, remoteAddress: '203.0.113.7' })
    clock.now += 60_000
    await flood()
    await app.close()
    const counted = memory.source.records().map(({ method, occurredAt, repetitions }) => [method, occurredAt.slice(14, 16), repetitions])
    t.strictSame(counted, [...each('00'), ['PUT', '00', undefined], ...each('01')], String(status))
  }
})

t.test('each minute, the number of the repetitions is stored, also when no further request arrives', async (t) => {
  mock.timers.enable({ apis: ['setInterval', 'setTimeout', 'Date'] })
  t.teardown(() => mock.timers.reset())
  const { app, memory } = await service(t)
  for (let sent = 0; sent < 3; sent += 1) await app.inject({ method: 'POST', url: '/orders/7?status=403' })
  mock.timers.tick(1000)
  await turns()
  t.strictSame(
    memory.source.records().map(({ repetitions }) => repetitions),
    [undefined],
    'the first is stored at once'
  )
  mock.timers.tick(60_000)
  mock.timers.tick(1000)
  await turns()
  t.strictSame(
    memory.source.records().map(({ repetitions }) => repetitions),
    [2]
  )
})

t.test('what was not admitted is counted, and not recorded', async (t) => {
  const counted: unknown[] = []
  const observer = { count: ({ name }: { name: string }, attributes: object) => counted.push([name, attributes]), record() {} } as never
  const { app, memory } = await service(t, {
    contracts: { observer },
    routes(app) {
      app.addHook('onRequest', async ({ headers }, reply) => {
        if (headers['x-refuse'] !== undefined) return reply.code(Number(headers['x-refuse'])).send({})
        return undefined
      })
      app.post('/late', async () => ({}))
    }
  })
  const refused = (status: number) => app.inject({ method: 'POST', url: '/late', headers: { 'x-refuse': String(status) } })
  for (const status of [429, 500, 503]) await refused(status)
  await app.inject({ method: 'POST', url: '/orders/7?status=429' })
  await app.inject({ method: 'POST', url: '/orders/7?status=503' })
  await app.close()
  const name = 'concordat.audit_trail.not_recorded'
  t.strictSame(counted, [
    [name, { reason: 'limit' }],
    [name, { reason: 'notServed' }],
    [name, { reason: 'notServed' }],
    [name, { reason: 'limit' }]
  ])
  t.match(memory.source.records(), [{ status: 503, outcome: 'failed' }], 'its handler may have changed something')
})
