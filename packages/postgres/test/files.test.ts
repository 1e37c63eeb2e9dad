import { request as send } from 'node:http'
import files, { type StoredFile } from '@concordat/files'
import { fileStoreContract } from '@concordat/files/testing'
import idempotency from '@concordat/idempotency'
import { migrate } from '@concordat/postgres'
import { fileMigrations, postgresFileStore } from '@concordat/postgres/files'
import { idempotencyMigrations, postgresIdempotencyStore } from '@concordat/postgres/idempotency'
import unitOfWork from '@concordat/postgres/unit-of-work'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { until } from '@concordat/test-harness/until'
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import { connect, freshSchema, inMemory } from './database.ts'
import { kinds, type Things, thingsOn } from './unit-of-work.ts'

const boundary = 'a-boundary'
const content = Buffer.alloc(300_000, 'a')
const title = `--${boundary}\r\nContent-Disposition: form-data; name="title"\r\n\r\nSunrise\r\n`
const fileHead = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n`
const whole = Buffer.concat([Buffer.from(title + fileHead), content, Buffer.from(`\r\n--${boundary}--\r\n`)])

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** Starts a process of the service, whose uploads are in a transaction and accept a key. */
async function service(t: Test, { database, table }: Things, handler: Handler, maxRetries = 0) {
  const schema = table.split('.')[0] as string
  await migrate(database, [...fileMigrations, ...idempotencyMigrations], { schema })
  const store = postgresFileStore(database, { schema })
  const app = Fastify({ handlerTimeout: 20_000 })
  t.teardown(() => app.close())
  await app.register(files, { store })
  await app.register(unitOfWork, { database })
  await app.register(idempotency, { scope: () => 'a client', store: postgresIdempotencyStore(database, { schema }) })
  const body = { type: 'object', properties: { title: { type: 'string' } } }
  const upload = { file: { types: ['text/plain'], maxBytes: 1_000_000 } }
  app.post('/files', { config: { upload, transaction: { maxRetries }, idempotency: 'accepted' }, schema: { body } }, handler)
  app.post('/plain', { config: { upload } }, handler)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const stored = async () => {
    const [row] = await database.query<{ staged: number; kept: number; chunks: number }>(
      `SELECT json_build_object('staged', count(staged_at), 'kept', count(*) - count(staged_at), 'chunks', (SELECT count(*) FROM ${schema}.file_chunks))::text AS json FROM ${schema}.files`
    )
    return row
  }
  return { app, url, store, stored, schema }
}

function post(url: string, { key, payload = whole, delimiter = boundary }: { key?: string; payload?: Buffer; delimiter?: string } = {}) {
  const bytes = Buffer.from(payload.toString('latin1').replaceAll(boundary, delimiter), 'latin1')
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': `multipart/form-data; boundary=${delimiter}`, ...(key !== undefined && { 'idempotency-key': `"${key}"` }) },
    body: bytes
  })
}

const nothing = { staged: 0, kept: 0, chunks: 0 }
const one = { staged: 0, kept: 1, chunks: 2 }

for (const kind of kinds) {
  t.test(`on ${kind}`, async (t) => {
    t.test('passes the store contract', async (t) => {
      const { database, schema } = kind === 'PGlite' ? await inMemory() : { ...connect(t), schema: freshSchema(t) }
      await migrate(database, fileMigrations, { schema })
      fileStoreContract(casesOf(t), () => postgresFileStore(database, { schema }))
    })

    t.test('files are permanent with the transaction of their request, and another process reads them', async (t) => {
      const things = await thingsOn(t, kind)
      const insert: Handler = async ({ transaction, upload }) => {
        await transaction.query(`INSERT INTO ${things.table} VALUES ($1)`, [(upload['file'] as StoredFile).id])
        return upload['file']
      }
      const first = await service(t, things, insert)
      const second = await service(t, things, insert)
      const { id, ...file } = (await (await post(`${first.url}/files`)).json()) as StoredFile
      t.match(file, { size: 300_000, type: 'text/plain', name: 'a.txt' })
      t.strictSame(await first.stored(), one)
      const chunks: Uint8Array[] = []
      for await (const chunk of second.store.read(id)) chunks.push(chunk)
      t.ok(Buffer.concat(chunks).equals(content))
    })

    t.test('a handler reads what its request has sent, in its transaction', async (t) => {
      const handler: Handler = async ({ upload, transaction }) => {
        await transaction.query('SELECT 1')
        let size = 0
        for await (const chunk of store.read((upload['file'] as StoredFile).id, undefined, transaction)) size += chunk.length
        return { size }
      }
      const { url, store } = await service(t, await thingsOn(t, kind), handler)
      t.strictSame(await (await post(`${url}/files`)).json(), { size: 300_000 })
    })

    t.test('nothing remains of a request without success', async (t) => {
      const things = await thingsOn(t, kind)
      const outcomes: readonly (readonly [Handler, number])[] = [
        [
          async ({ transaction }) => {
            await transaction.query(`INSERT INTO ${things.table} VALUES ('a')`)
            throw new Error('a defect')
          },
          500
        ],
        [async (_request, reply) => reply.code(409).send({ message: 'no' }), 409],
        // Its transaction is open until the response.
        ...[409, 500].map((status): readonly [Handler, number] => [
          async ({ transaction }, reply) => {
            await transaction.query('SELECT 1')
            return reply.code(status).send({ message: 'no' })
          },
          status
        ]),
        // The failure of COMMIT.
        [
          async ({ transaction }) => {
            transaction.beforeCommit(async () => {
              throw new Error('the disk is full')
            })
            return {}
          },
          500
        ],
        // A statement that fails and is ignored makes COMMIT roll back.
        [
          async ({ transaction }) => {
            await transaction.query('SELECT 1 / 0').catch(() => {})
            return {}
          },
          500
        ],
        // The files are gone, as after a day.
        [
          async ({ upload }) => {
            await store.discard([(upload['file'] as StoredFile).id])
            return {}
          },
          500
        ]
      ]
      let handler = outcomes[0]?.[0] as Handler
      const { url, stored, store } = await service(t, things, (request, reply) => handler(request, reply))
      for (const [next, status] of outcomes) {
        handler = next
        const response = await post(`${url}/files`)
        t.equal(response.status, status, await response.text())
        await until(async () => (await stored())?.staged === 0)
        t.strictSame(await stored(), nothing)
      }
    })

    t.test('a retry with another boundary gets the first response, and stores nothing; with another byte, 422', async (t) => {
      const things = await thingsOn(t, kind)
      let runs = 0
      const { url, stored } = await service(t, things, async ({ upload, body }) => {
        runs += 1
        return { ...(upload['file'] as StoredFile), ...(body as object) }
      })
      const first = await (await post(`${url}/files`, { key: 'k' })).json()
      t.match(first, { title: 'Sunrise', size: 300_000 })
      const replays = await Promise.all(['other', 'third'].map((delimiter) => post(`${url}/files`, { key: 'k', delimiter })))
      for (const replay of replays) t.strictSame([replay.status, await replay.json()], [200, first])
      t.equal(runs, 1)
      const changed = Buffer.from(whole)
      changed[whole.length - 50] = 0x62
      const renamed = Buffer.from(whole.toString('latin1').replace('a.txt', 'b.txt'), 'latin1')
      const retitled = Buffer.from(whole.toString('latin1').replace('Sunrise', 'Sunset!'), 'latin1')
      for (const payload of [changed, renamed, retitled]) t.equal((await post(`${url}/files`, { key: 'k', payload })).status, 422)
      await until(async () => (await stored())?.staged === 0)
      t.strictSame(await stored(), one)
      const [a, b] = await Promise.all([post(`${url}/files`, { key: 'twice' }), post(`${url}/files`, { key: 'twice' })])
      t.ok([a, b].some(({ status }) => status === 200))
      t.equal(runs, 2)
      await until(async () => (await stored())?.staged === 0)
      t.strictSame(await stored(), { staged: 0, kept: 2, chunks: 4 })
    })

    t.test('a handler that runs again after a conflict keeps its files once', async (t) => {
      const things = await thingsOn(t, kind)
      let runs = 0
      const handler: Handler = async ({ transaction }) => {
        runs += 1
        await transaction.query('SELECT 1')
        if (runs === 1) await transaction.query("DO $$ BEGIN RAISE EXCEPTION 'a conflict' USING ERRCODE = '40001'; END $$")
        return {}
      }
      const { url, stored } = await service(t, things, handler, 2)
      t.equal((await post(`${url}/files`)).status, 200)
      t.equal(runs, 2)
      t.strictSame(await stored(), one)
    })

    t.test('a client that leaves before the end stores nothing; one that leaves later does not stop the work', async (t) => {
      const things = await thingsOn(t, kind)
      const entered = Promise.withResolvers<void>()
      const left = Promise.withResolvers<void>()
      const handler: Handler = async ({ transaction }, reply) => {
        await transaction.query('SELECT 1')
        entered.resolve()
        await left.promise
        return reply.code(201).send({})
      }
      const { url, stored } = await service(t, things, handler)
      const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
      const early = send(`${url}/files`, { method: 'POST', headers }).on('error', () => {})
      early.write(whole.subarray(0, 290_000))
      await until(async () => (await stored())?.staged === 1)
      early.destroy()
      await until(async () => (await stored())?.staged === 0)
      t.strictSame(await stored(), nothing)
      const late = send(`${url}/files`, { method: 'POST', headers }).on('error', () => {})
      late.end(whole)
      await entered.promise
      const closed = Promise.withResolvers<void>()
      late.on('close', closed.resolve).destroy()
      await closed.promise
      left.resolve()
      await until(async () => (await stored())?.kept === 1)
      t.strictSame(await stored(), one)
    })

    t.test('without a transaction, files are permanent before the response; a deletion is part of a transaction', async (t) => {
      const things = await thingsOn(t, kind)
      const { url, store, stored } = await service(t, things, async ({ upload }) => upload['file'])
      const { id } = (await (await post(`${url}/plain`)).json()) as StoredFile
      t.strictSame(await stored(), one)
      await t.rejects(
        things.database.transaction(async (transaction) => {
          await store.delete([id], transaction)
          throw new Error('rolled back')
        })
      )
      t.strictSame(await stored(), one)
      await things.database.transaction((transaction) => store.delete([id], transaction))
      t.strictSame(await stored(), nothing)
    })
  })
}
