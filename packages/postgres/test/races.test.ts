import { once } from 'node:events'
import { contributions } from '@concordat/plugin-kit/wiring'
import { fromPool } from '@concordat/postgres'
import unitOfWork, { currentTransaction } from '@concordat/postgres/unit-of-work'
import { until } from '@concordat/test-harness/until'
import compress from '@fastify/compress'
import Fastify, { type FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Pool } from 'pg'
import t from 'tap'
import { connect, onServer, watched } from './database.ts'
import { kinds, serviceOn, thingsOn } from './unit-of-work.ts'

const config = { transaction: true } as const
const handler = async () => ({})
const named = (name: string) => fp(async () => {}, { name })

t.test('transactions that PostgreSQL cannot serialize', onServer, async (t) => {
  type Isolation = 'repeatable read' | 'serializable'
  /** Runs two requests that both read and then write a value based on it: only one of them can be correct. */
  async function racing(t: Parameters<typeof thingsOn>[0], { isolation, maxRetries }: { isolation: Isolation; maxRetries: number }) {
    const things = await thingsOn(t, 'PostgreSQL')
    await things.database.query(`INSERT INTO ${things.table} VALUES ('0')`)
    const both = Promise.withResolvers<void>()
    const counts = { runs: 0, reads: 0 }
    const write = isolation === 'serializable' ? `INSERT INTO ${things.table} VALUES ($1)` : `UPDATE ${things.table} SET name = $1`
    const app = await serviceOn(t, things, (app) => {
      app.post('/count', { config: { transaction: { isolation, maxRetries } } }, async (request, reply) => {
        counts.runs += 1
        reply.header(`x-run-${counts.runs}`, 'a').code(counts.runs > 2 ? 201 : 202)
        const { rows } = await request.transaction.query<{ name: string }>(`SELECT max(name) AS name FROM ${things.table}`)
        if ((counts.reads += 1) === 2) both.resolve()
        await both.promise
        await request.transaction.query(write, [String(Number(rows[0]?.name) + 1)])
        return {}
      })
    })
    const responses = await Promise.all([1, 2].map(() => app.inject({ method: 'POST', url: '/count' })))
    return { responses: responses.toSorted((a, b) => a.statusCode - b.statusCode), things, counts }
  }

  for (const isolation of ['repeatable read', 'serializable'] as const) {
    t.test(`return 503 with Retry-After and are rolled back: ${isolation}`, async (t) => {
      const { responses, things } = await racing(t, { isolation, maxRetries: 0 })
      const [right, refused] = responses
      t.equal(right?.statusCode, 202)
      t.strictSame([refused?.statusCode, refused?.headers['retry-after'], refused?.json().code], [503, '1', 'TRANSACTION_CONFLICT'])
      t.strictSame(await things.names(), isolation === 'serializable' ? ['0', '1'] : ['1'])
    })
  }

  t.test('run again if the route has retries, with a response that has nothing from the first run', async (t) => {
    const { responses, things, counts } = await racing(t, { isolation: 'repeatable read', maxRetries: 3 })
    t.strictSame(
      responses.map(({ statusCode }) => statusCode),
      [201, 202]
    )
    t.strictSame(
      Object.keys(responses[0]?.headers ?? {}).filter((name) => name.startsWith('x-run')),
      ['x-run-3']
    )
    t.equal(counts.runs, 3)
    t.strictSame(await things.names(), ['2'])
  })

  t.test('run again after a deadlock: one of the two is retried', async (t) => {
    const things = await thingsOn(t, 'PostgreSQL')
    await things.database.query(`INSERT INTO ${things.table} VALUES ('a'), ('b')`)
    const [both, other] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let [runs, locked] = [0, 0]
    const app = await serviceOn(t, things, (app) => {
      app.addHook('onResponse', async () => other.resolve())
      app.post<{ Params: { first: string; second: string } }>(
        '/lock/:first/:second',
        { config: { transaction: { maxRetries: 2 } } },
        async ({ params, transaction }) => {
          const lock = (name: string) => transaction.query(`SELECT FROM ${things.table} WHERE name = $1 FOR UPDATE`, [name])
          // A retry that locks its first row before the other transaction has continued causes a second deadlock.
          if ((runs += 1) > 2) await other.promise
          await lock(params.first)
          if ((locked += 1) === 2) both.resolve()
          await both.promise
          await lock(params.second)
          return {}
        }
      )
    })
    const responses = await Promise.all(['a/b', 'b/a'].map((path) => app.inject({ method: 'POST', url: `/lock/${path}` })))
    t.strictSame(
      responses.map(({ statusCode }) => statusCode),
      [200, 200]
    )
    t.equal(runs, 3)
  })

  t.test('do not run again when a hook used the transaction before the handler', async (t) => {
    const things = await thingsOn(t, 'PostgreSQL')
    let runs = 0
    const preHandler = async (request: FastifyRequest) => {
      await request.transaction.query(`INSERT INTO ${things.table} VALUES ('by a hook')`)
    }
    const app = await serviceOn(t, things, (app) => {
      app.post('/', { config: { transaction: { maxRetries: 5 } }, preHandler }, async () => {
        runs += 1
        throw Object.assign(new Error('wrapped'), { cause: { code: '40001' } })
      })
    })
    t.equal((await app.inject({ method: 'POST', url: '/' })).statusCode, 503)
    t.equal(runs, 1)
    t.strictSame(await things.names(), [])
  })
})

for (const kind of kinds) {
  t.test(`commits the transaction when the client disconnects, on ${kind}`, async (t) => {
    const things = await thingsOn(t, kind, { max: 1 })
    const begun = new Map<string, () => void>()
    const app = await serviceOn(t, things, (app) => {
      app.post<{ Params: { how: string } }>('/:how', { config }, async (request, reply) => {
        const { how } = request.params
        await request.transaction.query(`INSERT INTO ${things.table} VALUES ($1)`, [how])
        begun.get(how)?.()
        await once(reply.raw, 'close')
        if (how === 'nothing') return void reply.code(204)
        return how === 'send' ? reply.send({}) : {}
      })
    })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    for (const how of ['object', 'nothing', 'send']) {
      const leave = new AbortController()
      const isBegun = new Promise<void>((resolve) => begun.set(how, resolve))
      const requested = fetch(`${url}/${how}`, { method: 'POST', signal: leave.signal }).catch(() => {})
      await isBegun
      leave.abort()
      await requested
      await until(async () => (await things.names()).includes(how))
    }
    t.strictSame(await things.names(), ['nothing', 'object', 'send'])
  })

  t.test(`ends the transaction of a handler that hangs after its client disconnected, on ${kind}`, async (t) => {
    const things = await thingsOn(t, kind, { max: 1 })
    const begun = Promise.withResolvers<void>()
    const app = await serviceOn(t, things, (app) => {
      // Long enough for the first statement on a busy machine.
      app.post('/', { config, handlerTimeout: 500 }, async (request) => {
        await request.transaction.query(`INSERT INTO ${things.table} VALUES ('a')`)
        begun.resolve()
        await new Promise(() => {})
      })
    })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    const leave = new AbortController()
    const requested = fetch(url, { method: 'POST', signal: leave.signal }).catch(() => {})
    await begun.promise
    leave.abort()
    await requested
    t.strictSame(await things.names(), [])
    await things.database.transaction((queries) => queries.query(`INSERT INTO ${things.table} VALUES ('a')`))
  })

  t.test(`makes handlers wait for their transaction while another one is open, until they time out, on ${kind}`, async (t) => {
    const things = await thingsOn(t, kind, { max: 1 })
    const [holds, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const app = await serviceOn(t, things, (app) => {
      app.post<{ Params: { name: string } }>('/patient/:name', { config }, async (request) => {
        await request.transaction.query(`INSERT INTO ${things.table} VALUES ($1)`, [request.params.name])
        holds.resolve()
        await end.promise
        return {}
      })
      app.post('/impatient', { config, handlerTimeout: 50 }, async (request) => {
        await request.transaction.query(`INSERT INTO ${things.table} VALUES ('impatient')`)
        return {}
      })
    })
    const first = app.inject({ method: 'POST', url: '/patient/first' })
    await holds.promise
    t.equal((await app.inject({ method: 'POST', url: '/impatient' })).statusCode, 503)
    end.resolve()
    t.equal((await first).statusCode, 200)
    t.strictSame(await things.names(), ['first'])
    t.equal((await app.inject({ method: 'POST', url: '/patient/second' })).statusCode, 200)
  })
}

t.test('a database that fails', onServer, async (t) => {
  t.test('returns 503 with Retry-After, and the next request reconnects', async (t) => {
    const things = await thingsOn(t, 'PostgreSQL')
    const app = await serviceOn(t, things, (app) => {
      app.post<{ Querystring: { when: string } }>('/', { config }, async (request) => {
        const { transaction, query } = request
        const { rows } = await transaction.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
        const kill = () => things.database.query('SELECT pg_terminate_backend($1)::text AS json', [rows[0]?.pid])
        await transaction.query(`INSERT INTO ${things.table} VALUES ($1)`, [query.when])
        if (query.when === 'in between') await kill()
        if (query.when === 'at commit') transaction.beforeCommit(async () => void (await kill()))
        if (query.when === 'during') await Promise.all([transaction.query('SELECT pg_sleep(60)'), kill()])
        await transaction.query('SELECT 1')
        return {}
      })
    })
    for (const when of ['in between', 'during', 'at commit']) {
      const { statusCode, headers, body } = await app.inject({ method: 'POST', url: `/?when=${encodeURIComponent(when)}` })
      t.strictSame([statusCode, headers['retry-after'], JSON.parse(body).code], [503, '1', 'TRANSACTION_UNAVAILABLE'], when)
    }
    t.strictSame(await things.names(), [])
    t.equal((await app.inject({ method: 'POST', url: '/?when=never' })).statusCode, 200)
    t.strictSame(await things.names(), ['never'])
  })

  t.test('returns 503 when the database is unavailable, and 500 for a mistake of the service', async (t) => {
    const things = await thingsOn(t, 'PostgreSQL')
    const nowhere = fromPool(new Pool({ connectionString: 'postgres://postgres@127.0.0.1:1/test' }))
    const app = await serviceOn(t, { ...things, database: nowhere }, (app) => {
      app.post('/', { config }, async (request) => request.transaction.query('SELECT 1'))
    })
    t.equal((await app.inject({ method: 'POST', url: '/' })).statusCode, 503)
    const another = await serviceOn(t, things, (app) => {
      app.post('/', { config }, async (request) => {
        const circle: { itself?: unknown } = {}
        circle.itself = circle
        return request.transaction.query('SELECT $1::json', [circle])
      })
    })
    t.equal((await another.inject({ method: 'POST', url: '/' })).statusCode, 500)
  })

  t.test('returns 503 when COMMIT does not complete before the timeout, and drops the late response', async (t) => {
    const { pool } = connect(t, { max: 1 })
    await pool.query('SELECT 1')
    const committed = Promise.withResolvers<void>()
    const slow = watched(pool, async (sql, response) => {
      const responded = await response()
      if (sql === 'COMMIT') await committed.promise
      return responded
    })
    const things = await thingsOn(t, 'PostgreSQL')
    const app = await serviceOn(t, { ...things, database: slow }, (app) => {
      app.post('/', { config, handlerTimeout: 2000 }, async (request) => {
        await request.transaction.query(`INSERT INTO ${things.table} VALUES ('in doubt')`)
        return {}
      })
    })
    t.equal((await app.inject({ method: 'POST', url: '/' })).statusCode, 503)
    committed.resolve()
    t.strictSame(await things.names(), ['in doubt'])
  })
})

t.test('throws at startup for invalid options', async (t) => {
  const things = await thingsOn(t, 'PGlite')
  const { database } = things
  const start = async (route: object, options: object = {}, service = { handlerTimeout: 1000 }) => {
    const app = Fastify(service)
    t.teardown(() => app.close())
    await app.register(unitOfWork, { database, ...options } as never)
    app.route({ method: 'POST', url: '/things', handler, ...route })
    await app.ready()
    return app
  }
  const bad: [RegExp, object, object?, { handlerTimeout: number }?][] = [
    [/POST \/things: config\.transaction requires a handler timeout.*handlerTimeout/, { config }, {}, {} as never],
    [/config\.transaction must be true .*but is 5/, { config: { transaction: 5 } }],
    [/config\.transaction must be true .*but is null/, { config: { transaction: null } }],
    [/config\.transaction\.isolationLevel is unknown/, { config: { transaction: { isolationLevel: 'serializable' } } }],
    [
      /isolation must be "read committed" or "repeatable read" or "serializable", but is "read uncommitted"\./,
      { config: { transaction: { isolation: 'read uncommitted' } } }
    ],
    [/config\.transaction\.maxRetries must be an integer from 0 to 10, but is -1\./, { config: { transaction: { maxRetries: -1 } } }],
    [/config\.transaction\.maxRetries must be an integer from 0 to 10, but is 1.5\./, { config: { transaction: { maxRetries: 1.5 } } }],
    [/config\.transaction\.maxRetries must be an integer from 0 to 10, but is 11\./, { config: { transaction: { maxRetries: 11 } } }],
    [/config\.transaction\.readOnly must be true or false, but is "yes"\./, { config: { transaction: { readOnly: 'yes' } } }],
    [/options\.database must implement Postgres\. Create it with/, {}, { database: undefined }],
    [/options\.database must implement Postgres\. Create it with/, {}, { database: {} }],
    [/options\.handlerTimeoutSeconds is unknown\. Set handlerTimeout of Fastify\./, {}, { handlerTimeoutSeconds: 30 }]
  ]
  for (const [message, route, options, service] of bad) await t.rejects(start(route, options, service), { message }, String(message))

  await start({ config, handlerTimeout: 500 }, {}, {} as never)
  await start({ config: { transaction: false } }, {}, {} as never)
})

t.test('throws at startup for an order of plugins that cannot work', async (t) => {
  const { database } = await thingsOn(t, 'PGlite')
  for (const name of ['@concordat/idempotency', '@fastify/compress']) {
    const app = Fastify()
    await app.register(name === '@fastify/compress' ? compress : named(name))
    await t.rejects(async () => app.register(unitOfWork, { database }), { message: new RegExp(`${name} must be registered after`) })
    await app.close()
  }
  const app = Fastify()
  await app.register(unitOfWork, { database })
  await app.register(named('@concordat/conditional-caching'))
  await t.rejects(async () => app.ready(), { message: /conditional-caching must be registered before the unit of work/ })
})

t.test('defines only errors with status code 500 or 503', async (t) => {
  const { database } = await thingsOn(t, 'PGlite')
  const app = Fastify()
  await app.register(unitOfWork, { database })
  const [list] = contributions(app, 'errors') as [{ readonly definitions: Readonly<Record<string, { readonly statusCode: number }>> }]
  for (const [code, { statusCode }] of Object.entries(list.definitions)) {
    t.match(code, /^TRANSACTION_/)
    t.ok(statusCode === 500 || statusCode === 503)
  }
  t.equal(currentTransaction(), undefined)
})
