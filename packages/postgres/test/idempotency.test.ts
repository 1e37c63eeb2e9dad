import { randomUUID } from 'node:crypto'
import idempotency, { type IdempotencyOptions } from '@concordat/idempotency'
import { publish } from '@concordat/plugin-kit/wiring'
import { fromPool, migrate, type Postgres } from '@concordat/postgres'
import { idempotencyMigrations, postgresIdempotencyStore } from '@concordat/postgres/idempotency'
import unitOfWork from '@concordat/postgres/unit-of-work'
import compress from '@fastify/compress'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { Pool } from 'pg'
import t, { type Test } from 'tap'
import { connect, onServer, watched } from './database.ts'
import { kinds, type Things, thingsOn } from './unit-of-work.ts'

const config = { transaction: true, idempotency: 'required' } as const

interface Setup {
  readonly database?: Postgres
  readonly options?: Partial<IdempotencyOptions>
}

/** Starts a service with the plugins in the order of the preset: the unit of work inside the gate, compression last. */
async function service(
  t: Test,
  things: Things,
  routes: (app: FastifyInstance) => void,
  { database = things.database, options }: Setup = {}
) {
  const schema = things.table.split('.')[0] as string
  await migrate(things.database, idempotencyMigrations, { schema })
  const app = Fastify({ handlerTimeout: 20_000 })
  t.teardown(() => app.close())
  const outcomes: unknown[] = []
  publish(app, {
    observer: {
      count: (_counter, attributes) => void (attributes?.['outcome'] && outcomes.push(attributes['outcome'])),
      record: () => {},
      traceparent: () => undefined,
      begin: () => () => {},
      run: async (_span, work) => work({})
    }
  })
  await app.register(unitOfWork, { database })
  await app.register(idempotency, {
    scope: () => 'a client',
    store: postgresIdempotencyStore(database, { schema }),
    ...options
  })
  await app.register(compress, { threshold: 0 })
  routes(app)
  await app.ready()
  const records = async () => (await things.database.query<number>(`SELECT count(*)::text AS json FROM ${schema}.idempotency_keys`))[0]
  return { app, outcomes, records, schema }
}

const preHandler = async (request: FastifyRequest) => {
  await request.transaction.query('SELECT 1')
}

function call(app: FastifyInstance, url: string, key: string = randomUUID(), more: object = {}) {
  return app.inject({ method: 'POST', url, headers: { 'idempotency-key': `"${key}"` }, ...more })
}

for (const kind of kinds) {
  t.test(`on ${kind}`, async (t) => {
    t.test('fails only the inner request when its claim fails inside another transaction', async (t) => {
      const things = await thingsOn(t, kind)
      const store = postgresIdempotencyStore(things.database, { schema: 'nowhere' })
      const insert = (request: FastifyRequest, name: string) => request.transaction.query(`INSERT INTO ${things.table} VALUES ($1)`, [name])
      const { app } = await service(
        t,
        things,
        (app) => {
          app.post('/inner', { config }, async (request) => insert(request, 'inner'))
          app.post('/outer', { config: { transaction: true } }, async (request) => {
            await insert(request, 'before')
            const { statusCode } = await call(app, '/inner')
            await insert(request, 'after')
            return { statusCode }
          })
        },
        { options: { store } }
      )
      t.same((await app.inject({ method: 'POST', url: '/outer' })).json(), { statusCode: 503 })
      t.strictSame(await things.names(), ['after', 'before'])
    })

    t.test('replays the response of a completed request, and runs it once', async (t) => {
      const things = await thingsOn(t, kind)
      const { app, outcomes } = await service(t, things, (app) => {
        app.post<{ Querystring: { status: number } }>('/things', { config }, async (request, reply) => {
          const name = randomUUID()
          await request.transaction.query(`INSERT INTO ${things.table} VALUES ($1)`, [name])
          return reply.code(request.query.status).header('location', `/things/${name}`).send({ name })
        })
      })
      for (const [status, isKept] of [
        [201, true],
        [404, false]
      ] as const) {
        const before = (await things.names()).length
        const key = randomUUID()
        const first = await call(app, `/things?status=${status}`, key)
        const again = await call(app, `/things?status=${status}`, key)
        t.equal(first.statusCode, status)
        t.strictSame([again.statusCode, again.body, again.headers['location']], [status, first.body, first.headers['location']])
        t.equal(again.headers['idempotency-replayed'], 'true')
        t.equal((await call(app, '/things?status=200', key)).statusCode, 422)
        t.equal((await things.names()).length - before, isKept ? 1 : 0, 'the writes of a 4xx are rolled back')
      }
      t.strictSame(outcomes, ['ran', 'replayed', 'reused', 'ran', 'replayed', 'reused'])
      const encoded = await call(app, '/things?status=201', randomUUID(), {
        headers: { 'idempotency-key': 'bare', 'accept-encoding': 'gzip' }
      })
      t.equal(encoded.headers['content-encoding'], 'gzip')
    })

    t.test('stores a 409 that a unique index caused, and does not store a 5xx', async (t) => {
      const things = await thingsOn(t, kind)
      await things.database.query(`INSERT INTO ${things.table} VALUES ('taken')`)
      let runs = 0
      const { app, records } = await service(t, things, (app) => {
        app.post('/taken', { config }, async (request) => {
          runs += 1
          try {
            await request.transaction.query(`INSERT INTO ${things.table} VALUES ('taken')`)
          } catch (error) {
            throw Object.assign(new Error('taken', { cause: error }), { statusCode: 409 })
          }
        })
        app.post('/broken', { config }, async (request) => {
          runs += 1
          await request.transaction.query(`INSERT INTO ${things.table} VALUES ('half')`)
          throw new Error('broken')
        })
      })
      const key = randomUUID()
      for (const replayed of [undefined, 'true']) {
        const { statusCode, headers } = await call(app, '/taken', key)
        t.strictSame([statusCode, headers['idempotency-replayed']], [409, replayed])
      }
      t.strictSame([runs, await records()], [1, 1])
      const another = randomUUID()
      for (const run of [2, 3]) {
        t.equal((await call(app, '/broken', another)).statusCode, 500)
        t.strictSame([runs, await records()], [run, 1])
      }
      t.strictSame(await things.names(), ['taken'])
    })

    t.test('rolls back a request whose response is too large to be stored, and commits a smaller one with its key', async (t) => {
      const things = await thingsOn(t, kind)
      const { app, records, outcomes } = await service(
        t,
        things,
        (app) => {
          app.post<{ Querystring: { length: number } }>('/things', { config }, async (request) => {
            await request.transaction.query(`INSERT INTO ${things.table} VALUES ($1)`, [`of ${request.query.length}`])
            return { text: 'x'.repeat(request.query.length) }
          })
        },
        { options: { maxStoredBytes: 5000 } }
      )
      const key = randomUUID()
      for (let n = 0; n < 2; n += 1) {
        const response = await call(app, '/things?length=5000', key)
        t.strictSame([response.statusCode, response.json().code], [422, 'IDEMPOTENCY_RESPONSE_TOO_LARGE'])
      }
      t.strictSame([await things.names(), await records()], [[], 0])
      const [first, retry] = [await call(app, '/things?length=4000', key), await call(app, '/things?length=4000', key)]
      t.strictSame([first.statusCode, retry.body, retry.headers['idempotency-replayed']], [200, first.body, 'true'])
      t.strictSame([await things.names(), await records()], [['of 4000'], 1])
      t.strictSame(outcomes, ['responseTooLarge', 'responseTooLarge', 'ran', 'replayed'])
    })

    t.test('commits nothing when the response cannot be stored, and a retry runs', async (t) => {
      const things = await thingsOn(t, kind)
      const { app, records, schema } = await service(t, things, (app) => {
        app.post('/things', { config }, async (request) => {
          await request.transaction.query(`INSERT INTO ${things.table} VALUES ('stored')`)
          return {}
        })
      })
      await things.database.query(`CREATE FUNCTION ${schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$`)
      const table = `${schema}.idempotency_keys`
      await things.database.query(`CREATE TRIGGER refuse BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION ${schema}.refuse()`)
      const key = randomUUID()
      t.equal((await call(app, '/things', key)).statusCode, 500)
      t.strictSame([await things.names(), await records()], [[], 0])
      await things.database.query(`DROP TRIGGER refuse ON ${table}`)
      t.equal((await call(app, '/things', key)).statusCode, 200)
      t.strictSame([await things.names(), await records()], [['stored'], 1])
    })

    t.test('commits or rolls back operations that are injected in one transaction together with it', async (t) => {
      const things = await thingsOn(t, kind, { max: 1 })
      const { app, records } = await service(t, things, (app) => {
        app.post('/one', { config }, async (request) => {
          const { rows } = await request.transaction.query(`INSERT INTO ${things.table} VALUES (gen_random_uuid()) RETURNING name`)
          return rows
        })
        app.post<{ Querystring: { status: number } }>('/batch', { config: { transaction: true } }, async (request, reply) => {
          const responses = [await call(app, '/one', 'a'), await call(app, '/one', 'b'), await call(app, '/one', 'a')]
          const [first, , again] = responses
          t.equal(again?.body, first?.body)
          return reply.code(request.query.status).send(responses.map(({ statusCode }) => statusCode))
        })
      })
      t.strictSame((await app.inject({ method: 'POST', url: '/batch?status=422' })).json(), [200, 200, 200])
      t.strictSame([await records(), (await things.names()).length], [0, 0])
      await app.inject({ method: 'POST', url: '/batch?status=200' })
      t.strictSame([await records(), (await things.names()).length], [2, 2])
    })

    t.test('returns 503 when a hook uses the transaction before the key is claimed in it', async (t) => {
      const things = await thingsOn(t, kind)
      const { app } = await service(t, things, (app) => {
        app.post('/early', { config, preHandler }, async () => ({}))
      })
      t.equal((await call(app, '/early')).statusCode, 503)
    })
  })
}

t.test('claims the key again when a handler runs again, and stores the response', onServer, async (t) => {
  const things = await thingsOn(t, 'PostgreSQL')
  let runs = 0
  const taken = new Set<string>()
  const { app, records } = await service(t, things, (app) => {
    const retried = { transaction: { isolation: 'serializable', maxRetries: 2 }, idempotency: 'required' } as const
    app.post<{ Querystring: { lose?: string } }>('/things', { config: retried }, async (request) => {
      runs += 1
      const { lose } = request.query
      if (runs % 2 === 1) {
        await request.transaction.query(`INSERT INTO ${things.table} VALUES ('first run')`)
        throw Object.assign(new Error('lost the race'), { code: '40001' })
      }
      if (lose) taken.add(lose)
      return { runs }
    })
  })
  const responses = [await call(app, '/things', 'k'), await call(app, '/things', 'k')]
  t.strictSame(
    responses.map(({ body }) => body),
    ['{"runs":2}', '{"runs":2}']
  )
  t.strictSame([await records(), await things.names()], [1, []])
})

t.test('on PostgreSQL', onServer, async (t) => {
  t.test('adds no message to a transaction for a key: its claim is sent with BEGIN, and its response with COMMIT', async (t) => {
    const { pool } = connect(t)
    const sent: string[] = []
    const counted = watched(pool, (sql, response) => {
      sent.push(sql)
      return response()
    })
    const things = await thingsOn(t, 'PostgreSQL')
    const handler = async (request: FastifyRequest) => {
      await request.transaction.query(`INSERT INTO ${things.table} VALUES (gen_random_uuid())`)
      return {}
    }
    const { app } = await service(
      t,
      things,
      (app) => {
        app.post('/plain', { config: { transaction: true } }, handler)
        app.post('/keyed', { config }, handler)
      },
      { database: counted }
    )
    await app.inject({ method: 'POST', url: '/plain' })
    const plain = sent.splice(0)
    await call(app, '/keyed')
    t.equal(plain.length, 3)
    t.equal(sent.length, plain.length)
    t.match(sent[0], /^BEGIN;[^]*pg_try_advisory_xact_lock[^]*SAVEPOINT concordat_work$/)
    t.match(sent[2], /^WITH done AS \(\s+INSERT INTO[^]*;\nCOMMIT$/)
  })

  t.test('returns 503 and runs no handler when the store is unavailable', async (t) => {
    const things = await thingsOn(t, 'PostgreSQL')
    const pool = new Pool({ connectionString: 'postgres://postgres@127.0.0.1:1/test' })
    let runs = 0
    const { app } = await service(
      t,
      things,
      (app) => {
        app.post('/things', { config }, async () => ({ runs: (runs += 1) }))
        app.post('/leased', { config: { idempotency: 'required' } }, async () => ({ runs: (runs += 1) }))
      },
      { database: fromPool(pool) }
    )
    for (const url of ['/things', '/leased']) {
      const { statusCode, headers } = await call(app, url)
      t.equal(statusCode, 503)
      t.ok(headers['retry-after'])
    }
    t.equal(runs, 0)
  })

  t.test('responds with 503 when no connection is free in time, and releases the claim that succeeds later', async (t) => {
    const things = await thingsOn(t, 'PostgreSQL')
    const { database, pool } = connect(t, { max: 1 })
    const { app, records } = await service(
      t,
      things,
      (app) => app.post('/leased', { config: { idempotency: 'required' } }, async () => ({ ran: true })),
      { database, options: { storeTimeoutSeconds: 1, leaseSeconds: 600 } }
    )
    const onlyOne = await pool.connect()
    t.equal((await call(app, '/leased', 'late')).statusCode, 503)
    t.equal(await records(), 0)
    onlyOne.release()
    // The first retries may come before the release.
    let retry = await call(app, '/leased', 'late')
    while (retry.statusCode >= 400) retry = await call(app, '/leased', 'late')
    t.strictSame([retry.body, retry.headers['idempotency-replayed']], ['{"ran":true}', undefined])
  })

  t.test('does not claim the key in a transaction whose handler runs without protection after a timeout', async (t) => {
    const things = await thingsOn(t, 'PostgreSQL')
    const { database, pool } = connect(t, { max: 1 })
    const begun = Promise.withResolvers<void>()
    const routes = (app: FastifyInstance) =>
      app.post(
        '/things',
        { config: { transaction: true, idempotency: { key: 'required', whenStoreFails: 'dangerouslyBypass' } } },
        async (request) => {
          begun.resolve()
          await request.transaction.query(`INSERT INTO ${things.table} VALUES (gen_random_uuid()::text)`)
          return { ran: true }
        }
      )
    const { app, records } = await service(t, things, routes, { database, options: { storeTimeoutSeconds: 1 } })
    const onlyOne = await pool.connect()
    const first = call(app, '/things', 'late')
    await begun.promise
    onlyOne.release()
    const { statusCode, headers } = await first
    t.strictSame([statusCode, headers['idempotency-status'], await records()], [200, 'bypassed', 0])
    t.equal((await call(app, '/things', 'late')).headers['idempotency-status'], undefined)
    t.strictSame([(await things.names()).length, await records()], [2, 1])
  })

  t.test('frees the key immediately when a service loses its database connection', async (t) => {
    const things = await thingsOn(t, 'PostgreSQL')
    const begun = Promise.withResolvers<number>()
    const hold = Promise.withResolvers<void>()
    let runs = 0
    const { app, schema } = await service(t, things, (app) => {
      app.post('/things', { config }, async (request) => {
        const { rows } = await request.transaction.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
        await request.transaction.query(`INSERT INTO ${things.table} VALUES ('one')`)
        if ((runs += 1) > 1) return { runs }
        begun.resolve(rows[0]?.pid as number)
        await hold.promise
        return { runs }
      })
    })
    const first = call(app, '/things', 'cut off')
    await things.database.query('SELECT pg_terminate_backend($1)::text AS json', [await begun.promise])
    // A second service, as in another process: in the first one, the store knows that the request is still running.
    const elsewhere = await service(t, { ...things, table: `${schema}.things` }, (app) => {
      app.post('/things', { config }, async (request) => {
        await request.transaction.query(`INSERT INTO ${things.table} VALUES ('one')`)
        return { runs: 'elsewhere' }
      })
    })
    t.equal((await call(elsewhere.app, '/things', 'cut off')).body, '{"runs":"elsewhere"}')
    hold.resolve()
    t.equal((await first).statusCode, 503)
    t.equal((await call(app, '/things', 'cut off')).body, '{"runs":"elsewhere"}')
    t.strictSame(await things.names(), ['one'])
  })

  t.test('checks the settings of the database at startup', async (t) => {
    const { database } = connect(t)
    const things = await thingsOn(t, 'PostgreSQL')
    const schema = things.table.split('.')[0] as string
    const store = postgresIdempotencyStore(database, { schema })
    t.match((await store.check?.())?.join('\n'), /idempotency_keys is missing. Run migrate/)
    await migrate(database, idempotencyMigrations, { schema })
    await database.query(`ALTER TABLE ${schema}.idempotency_keys SET UNLOGGED`)
    const loose = connect(t, { options: '-c synchronous_commit=off' })
    t.match((await postgresIdempotencyStore(loose.database, { schema }).check?.())?.join('\n'), /is UNLOGGED[^]*synchronous_commit is off/)
    const careful = connect(t, { options: '-c client_connection_check_interval=250' })
    const lines = async (database: Postgres) => (await postgresIdempotencyStore(database, { schema }).check?.())?.join('\n')
    t.match(await lines(database), /client_connection_check_interval is 0.*Set the pool options/)
    t.notMatch(await lines(careful.database), /client_connection_check_interval/)
    t.throws(() => postgresIdempotencyStore(database, { schema: 'A' }), TypeError)
    const terms = { leaseMs: 1, lifetimeMs: 1, takesOver: true, client: 'c'.repeat(43), maxClientBytes: 1e9 }
    await t.rejects(async () => store.begin('short', 'short', terms), TypeError)
    const transaction = { beforeCommit: () => {} }
    await t.rejects(async () => store.begin('a'.repeat(43), 'b'.repeat(43), { ...terms, transaction }), {
      message: /does not belong to the unit of work/
    })
  })
})
