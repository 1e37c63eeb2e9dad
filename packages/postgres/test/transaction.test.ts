import { once } from 'node:events'
import { Readable } from 'node:stream'
import { mock } from 'node:test'
import { contractOf, publish, type Transactions } from '@concordat/plugin-kit/wiring'
import unitOfWork, { currentTransaction, type Transaction } from '@concordat/postgres/unit-of-work'
import { until } from '@concordat/test-harness/until'
import compress from '@fastify/compress'
import Fastify, { type FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import { kinds, serviceOn, type Things, thingsOn } from './unit-of-work.ts'

const config = { transaction: true } as const

const insert = ({ table }: Things) => `INSERT INTO ${table} VALUES ($1)`

const onSend = async () => {
  throw Object.assign(new Error('hook'), { statusCode: 418 })
}

/** Returns `runAsOne` of the contract that the plugin publishes, on this database and with this timeout. */
async function runnerOn(t: Test, database: Things['database'], handlerTimeoutSeconds = 10) {
  const app = Fastify()
  t.teardown(() => app.close())
  publish(app, { handlerTimeout: { seconds: handlerTimeoutSeconds, release() {} } })
  await app.register(unitOfWork, { database })
  const request = { log: { error: (error: unknown) => t.fail(String(error)) } } as unknown as FastifyRequest
  const runAsOne = contractOf(app, 'transactions')?.runAsOne as NonNullable<Transactions['runAsOne']>
  return <Result>(work: () => Promise<Result>) => runAsOne(request, work)
}

for (const kind of kinds) {
  t.test(`on ${kind}`, async (t) => {
    t.test('commits the writes of a handler before its response is sent', async (t) => {
      const things = await thingsOn(t, kind)
      const app = await serviceOn(t, things, (app) => {
        app.post('/things', { config }, async (request, reply) => {
          reply.header('x-places', ['Málaga', 'Oslo'])
          const { rowCount } = await request.transaction.query(`INSERT INTO ${things.table} VALUES ($1), ($2)`, ['oak', 'ash'])
          const { rows } = await request.transaction.query<{ name: string }>(`SELECT name FROM ${things.table} ORDER BY name`)
          return { rowCount, rows, beside: await things.database.client.query('SELECT 1').catch(({ code }) => code) }
        })
      })
      const { statusCode, headers, body } = await app.inject({ method: 'POST', url: '/things' })
      t.equal(statusCode, 200)
      t.strictSame(headers['x-places'], ['Málaga', 'Oslo'])
      t.strictSame(JSON.parse(body), { rowCount: 2, rows: [{ name: 'ash' }, { name: 'oak' }], beside: 'TRANSACTION_REQUIRED' })
      t.strictSame(await things.names(), ['ash', 'oak'])
    })

    t.test('rolls back all writes after any failure', async (t) => {
      const things = await thingsOn(t, kind)
      const write = (name: string) => currentTransaction()?.query(insert(things), [name])
      const app = await serviceOn(t, things, (app) => {
        app.post('/throws', { config }, async () => {
          await write('a')
          throw new Error('broken')
        })
        app.post('/throws-409', { config }, async () => {
          await write('b')
          throw Object.assign(new Error('taken'), { statusCode: 409 })
        })
        app.post('/says-409', { config }, async (_request, reply) => {
          await write('c')
          return reply.code(409).send({ taken: true })
        })
        app.post('/says-500', { config }, async (_request, reply) => {
          await write('d')
          return reply.code(500).send({ broken: true })
        })
        const schema = { response: { 200: { type: 'object', required: ['there'], properties: { there: { type: 'string' } } } } }
        app.post('/not-serializable', { config, schema }, async () => {
          await write('e')
          return {}
        })
        app.post('/hook-throws', { config, onSend }, async () => {
          await write('f')
          return {}
        })
        app.post('/swallows', { config }, async (request) => {
          await write('g')
          await request.transaction.query('SELECT missing_column').catch(() => {})
          return {}
        })
        app.post('/deferred', { config }, async (request) => {
          await request.transaction.query('SET CONSTRAINTS ALL DEFERRED')
          await write('h')
          await write('h')
          return {}
        })
        app.post('/stream', { config }, async (_request, reply) => {
          await write('i')
          return reply.send(Readable.from(['x']))
        })
        app.post('/hijack', { config }, async (_request, reply) => {
          await write('j')
          reply.hijack()
        })
        app.post('/bad-header', { config }, async (_request, reply) => {
          await write('k')
          return reply.header('location', 'a\nb').send({})
        })
        app.post('/no-payload', { config }, async (_request, reply) => {
          await write('l')
          return reply
            .type('text/x')
            .serializer((() => 5) as never)
            .send({})
        })
        app.post('/before-commit', { config }, async (request) => {
          await write('m')
          request.transaction.beforeCommit(async () => {
            await write('n')
            throw Object.assign(new Error('full'), { statusCode: 507 })
          })
          return {}
        })
        app.post('/read-only', { config: { transaction: { readOnly: true } } }, async () => {
          await write('o')
          return {}
        })
      })
      const expected: Record<string, [number, string?]> = {
        throws: [500],
        'throws-409': [409],
        'says-409': [409],
        'says-500': [500],
        'not-serializable': [500],
        'hook-throws': [418],
        swallows: [500, 'TRANSACTION_ROLLED_BACK'],
        deferred: [500, '23505'],
        stream: [500, 'TRANSACTION_RESPONSE_REFUSED'],
        hijack: [500, 'TRANSACTION_RESPONSE_REFUSED'],
        'bad-header': [500, 'ERR_INVALID_CHAR'],
        'no-payload': [500, 'TRANSACTION_RESPONSE_REFUSED'],
        'before-commit': [507],
        'read-only': [500, '25006']
      }
      for (const [path, [status, code]] of Object.entries(expected)) {
        const { statusCode, body } = await app.inject({ method: 'POST', url: `/${path}` })
        t.equal(statusCode, status, path)
        if (code !== undefined) t.equal((JSON.parse(body) as { code: string }).code, code, path)
      }
      t.strictSame(await things.names(), [])
    })

    t.test('refuses statements after the end of a transaction, and never runs them in another one', async (t) => {
      const things = await thingsOn(t, kind, { max: 1 })
      const late = Promise.withResolvers<string>()
      const forgotten = Promise.withResolvers<Transaction>()
      const app = await serviceOn(t, things, (app) => {
        app.post('/late', { config, handlerTimeout: 50 }, async (request, reply) => {
          await request.transaction.query(insert(things), ['early'])
          await once(reply.raw, 'close')
          await request.transaction.query(insert(things), ['late']).then(
            () => late.resolve('written'),
            ({ code }) => late.resolve(code)
          )
        })
        app.post('/forgets', { config }, async (request, reply) => {
          reply.raw.once('close', () => forgotten.resolve(request.transaction))
          return reply.send({})
        })
      })
      t.equal((await app.inject({ method: 'POST', url: '/late' })).statusCode, 503)
      t.equal(await late.promise, 'TRANSACTION_ENDED')
      t.equal((await app.inject({ method: 'POST', url: '/forgets' })).statusCode, 200)
      const ended = await forgotten.promise
      await t.rejects(ended.query('SELECT 1'), { code: 'TRANSACTION_ENDED' })
      t.throws(() => ended.beforeCommit(async () => {}), { code: 'TRANSACTION_ENDED' })
      t.throws(() => ended.afterCommit(() => {}), { code: 'TRANSACTION_ENDED' })
      t.strictSame(await things.names(), [])
    })

    t.test('runs beforeCommit work in the transaction, and calls afterCommit after the commit', async (t) => {
      const things = await thingsOn(t, kind)
      const received: string[] = []
      const app = await serviceOn(t, things, (app) => {
        app.post<{ Querystring: { status: number } }>('/things', { config }, async (request, reply) => {
          const { transaction } = request
          contractOf(app, 'transactions')
            ?.transactionOf(request)
            ?.beforeCommit(async ({ statusCode }, payload) => void received.push(`kept ${statusCode} ${String(payload)}`))
          transaction.afterCommit(() => {
            throw new Error('is logged')
          })
          transaction.afterCommit(() => received.push('committed'))
          transaction.beforeCommit(async (_reply, payload) => {
            received.push(`event ${String(payload)}`)
            await transaction.query(insert(things), ['event'])
            transaction.beforeCommit(async () => void received.push('event of the event'))
          })
          return reply.code(request.query.status).send({ id: 1 })
        })
      })
      await app.inject({ method: 'POST', url: '/things?status=201' })
      t.strictSame(received.splice(0), ['event {"id":1}', 'event of the event', 'kept 201 {"id":1}', 'committed'])
      await app.inject({ method: 'POST', url: '/things?status=409' })
      t.strictSame(received.splice(0), ['kept 409 {"id":1}'])
      await app.inject({ method: 'POST', url: '/things?status=500' })
      t.strictSame(received, [])
      t.strictSame(await things.names(), ['event'])
    })

    t.test('makes an injected request part of the transaction of the handler that injects it', async (t) => {
      const things = await thingsOn(t, kind, { max: 1 })
      const app = await serviceOn(t, things, (app) => {
        app.post<{ Querystring: { status: string; name: string } }>('/one', { config }, async (request, reply) => {
          const { name } = request.query
          const status = Number(request.query.status)
          await request.transaction.query(insert(things), [name])
          request.transaction.afterCommit(() => received.push(name))
          if (status === 999) await request.transaction.query('SELECT missing_column').catch(() => {})
          return reply.code(status === 999 ? 200 : status).send({})
        })
        app.post<{ Querystring: { status: number } }>('/batch', { config }, async (request, reply) => {
          await request.transaction.query(insert(things), ['batch'])
          const responses = await Promise.all(
            ['one?name=a&status=201', 'one?name=b&status=409', 'one?name=c&status=200', 'one?name=d&status=999'].map((url) =>
              app.inject({ method: 'POST', url: `/${url}` })
            )
          )
          await request.transaction.query(insert(things), ['end'])
          return reply.code(request.query.status).send(responses.map(({ statusCode }) => statusCode))
        })
      })
      const received: string[] = []
      const { body } = await app.inject({ method: 'POST', url: '/batch?status=422' })
      t.strictSame(JSON.parse(body), [201, 409, 200, 500])
      t.strictSame([received, await things.names()], [[], []])
      await app.inject({ method: 'POST', url: '/batch?status=200' })
      t.strictSame(
        [received, await things.names()],
        [
          ['a', 'c'],
          ['a', 'batch', 'c', 'end']
        ]
      )
    })

    t.test('runAsOne runs one after another, and ends work that exceeds its timeout', async (t) => {
      const { database } = await thingsOn(t, kind)
      const log: string[] = []
      const hanging = (await runnerOn(t, database, 0.1))(() => new Promise<void>(() => log.push('hanging')))
      const after = (await runnerOn(t, database))(async () => log.push('after'))
      await t.rejects(hanging, { code: 'TRANSACTION_ENDED' })
      await after
      t.strictSame(log, ['hanging', 'after'])
    })

    t.test('runAsOne stops waiting for its turn after ten seconds', async (t) => {
      const { database } = await thingsOn(t, kind)
      const runAsOne = await runnerOn(t, database)
      const { promise, resolve } = Promise.withResolvers<void>()
      const running = runAsOne(() => promise)
      mock.timers.enable({ apis: ['setTimeout'] })
      t.teardown(() => mock.timers.reset())
      const waiting = runAsOne(async () => t.fail('its turn did not come'))
      mock.timers.tick(10_000)
      mock.timers.reset()
      await t.rejects(waiting, { code: 'TRANSACTION_CONFLICT', headers: { 'retry-after': '1' } })
      const next = runAsOne(async () => 'next')
      resolve()
      await running
      t.equal(await next, 'next')
    })

    t.test('commits all requests that are injected by runAsOne together, or none of them', async (t) => {
      const things = await thingsOn(t, kind, { max: 1 })
      const received: string[] = []
      const app = await serviceOn(t, things, (app) => {
        app.post<{ Params: { name: string } }>('/:name', { config }, async (request, reply) => {
          const { name } = request.params
          await request.transaction.query(insert(things), [name])
          request.transaction.afterCommit(() => received.push(name))
          return reply.code(name === 'bad' ? 409 : 201).send({})
        })
        app.get('/transaction', { config }, async (request) => (await request.transaction.query('SELECT txid_current()::text')).rows)
      })
      const run = async (names: readonly string[], timeoutSeconds = 10, end = async () => {}) =>
        (await runnerOn(t, things.database, timeoutSeconds))(async () => {
          const statuses: number[] = []
          for (const name of names) statuses.push((await app.inject({ method: 'POST', url: `/${name}` })).statusCode)
          t.strictSame(received, [])
          await end()
          return statuses
        })
      await t.rejects(
        run(['a', 'bad'], 10, async () => {
          throw new Error('undo')
        }),
        { message: 'undo' }
      )
      t.strictSame([received, await things.names()], [[], []])
      t.strictSame(await run([]), [])
      await t.rejects(
        run(['late'], 0.001, async () => {
          const { body } = await app.inject('/transaction')
          await until(async () => (await app.inject('/transaction')).body !== body)
        }),
        { code: 'TRANSACTION_ENDED' },
        'the transaction ends at its timeout'
      )
      t.strictSame([received, await things.names()], [[], []])
      t.strictSame(await run(['a', 'bad', 'b']), [201, 409, 201])
      t.strictSame(
        [received, await things.names()],
        [
          ['a', 'b'],
          ['a', 'b']
        ]
      )
    })

    t.test('runAsOne runs its work again after a conflict, as often as the routes of its requests allow', async (t) => {
      for (const maxRetries of [2, 0]) {
        const things = await thingsOn(t, kind)
        let conflicts = 2
        const app = await serviceOn(t, things, (app) => {
          app.post<{ Params: { name: string } }>('/:name', { config: { transaction: { maxRetries } } }, async (request) => {
            await request.transaction.query(insert(things), [request.params.name])
            if (conflicts-- > 0) await request.transaction.query("DO $$ BEGIN RAISE EXCEPTION 'conflict' USING ERRCODE = '40001'; END $$")
            return {}
          })
        })
        const runAsOne = await runnerOn(t, things.database)
        const result = runAsOne(async () => {
          const { statusCode } = await app.inject({ method: 'POST', url: '/a' })
          if (statusCode >= 500) throw new Error('undo')
          return statusCode
        })
        if (maxRetries === 0) await t.rejects(result, { message: 'undo' })
        else t.equal(await result, 200)
        t.strictSame([conflicts, await things.names()], maxRetries === 0 ? [1, []] : [-1, ['a']])
      }
    })

    t.test('completes all concurrent requests with fewer connections than requests', async (t) => {
      const things = await thingsOn(t, kind, { max: 2 })
      const app = await serviceOn(t, things, (app) => {
        app.post<{ Params: { name: string } }>('/things/:name', { config }, async (request) => {
          await request.transaction.query(insert(things), [request.params.name])
          return {}
        })
        app.get('/beside', async () => (await things.database.client.query<{ one: number }>('SELECT 1 AS one')).rows[0])
      })
      const inputs = Array.from({ length: 50 }, (_, index) => app.inject({ method: 'POST', url: `/things/${100 + index}` }))
      t.strictSame(JSON.parse((await app.inject({ url: '/beside' })).body), { one: 1 })
      t.ok((await Promise.all(inputs)).every(({ statusCode }) => statusCode === 200))
      t.equal((await things.names()).length, 50)
    })

    t.test('sends the response once, however the handler sends it', async (t) => {
      const things = await thingsOn(t, kind)
      const write = (name: string) => currentTransaction()?.query(insert(things), [name]) as Promise<unknown>
      const app = await serviceOn(t, things, (app) => {
        app.register(compress, { threshold: 0 })
        app.register(async (app) => {
          app.get('/callback', { config }, (_request, reply) => {
            write('callback').then(() => reply.send({ by: 'callback' }))
          })
          app.get('/send', { config }, async (_request, reply) => {
            await write('send')
            reply.send({ by: 'send' })
          })
          app.get('/send-and-return', { config }, async (_request, reply) => {
            await write('send-and-return')
            reply.send({ by: 'send-and-return' })
            return { by: 'return' }
          })
          app.get('/buffer', { config }, async (_request, reply) => {
            await write('buffer')
            return reply.type('application/json').send(Buffer.from('{"by":"buffer"}'))
          })
          app.get('/unused', { config }, async () => ({ by: 'unused' }))
        })
      })
      for (const by of ['callback', 'send', 'send-and-return', 'buffer', 'unused']) {
        const { statusCode, body } = await app.inject({ url: `/${by}` })
        t.strictSame([statusCode, body], [200, `{"by":"${by}"}`])
      }
      const { statusCode, body } = await app.inject({ method: 'HEAD', url: '/unused' })
      t.strictSame([statusCode, body], [200, ''])
      const encoded = await app.inject({ url: '/unused', headers: { 'accept-encoding': 'gzip' } })
      t.equal(encoded.headers['content-encoding'], 'gzip')
      t.strictSame(await things.names(), ['buffer', 'callback', 'send', 'send-and-return'])
    })
  })
}

t.test('throws when a route without a transaction uses request.transaction', async (t: Test) => {
  const things = await thingsOn(t, 'PGlite')
  const app = await serviceOn(t, things, (app) => {
    app.get('/plain', { config: { transaction: false } }, async (request) => request.transaction)
    app.get('/outside', async () => ({ current: currentTransaction() === undefined }))
  })
  t.match(JSON.parse((await app.inject({ url: '/plain' })).body), {
    statusCode: 500,
    message: /unit-of-work: GET \/plain has no transaction/
  })
  t.strictSame(JSON.parse((await app.inject({ url: '/outside' })).body), { current: true })
})
