// `retry` and `effect` of each error response, compared with what the database has, and with what the same request gets when it is sent again.
import { randomUUID } from 'node:crypto'
import errorCatalogue from '@concordat/error-catalogue'
import idempotency, { memoryIdempotencyStore } from '@concordat/idempotency'
import { defineErrors } from '@concordat/plugin-kit/api-error'
import { migrate, type Postgres } from '@concordat/postgres'
import { idempotencyMigrations, postgresIdempotencyStore } from '@concordat/postgres/idempotency'
import unitOfWork from '@concordat/postgres/unit-of-work'
import Fastify, { type FastifyInstance } from 'fastify'
import { Pool } from 'pg'
import t, { type Test } from 'tap'
import { onServer, server, watched } from './database.ts'
import { kinds, type Things, thingsOn } from './unit-of-work.ts'

const message = { en: 'It failed.' }
const remedy = 'Wait.'
const errors = defineErrors({
  TAKEN: { statusCode: 409, message, remedy },
  MISSING: { statusCode: 404, message, remedy },
  BUSY: { statusCode: 503, retry: 'later', message, remedy },
  BROKEN: { statusCode: 500, retry: 'never', message, remedy }
})
type Code = keyof typeof errors.definitions
const codes = Object.keys(errors.definitions) as Code[]
const methods = ['POST', 'PATCH', 'PUT', 'DELETE', 'GET'] as const
const places = ['before', 'handler', 'after'] as const

interface Fault {
  readonly code: Code
  readonly place: (typeof places)[number]
}

/** A service whose handlers add a thing, and then fail while there is a fault. */
async function service(t: Test, { database, table }: Things, store: 'database' | 'memory', transactions: Postgres = database) {
  const schema = table.split('.')[0] as string
  if (store === 'database') await migrate(database, idempotencyMigrations, { schema })
  const app = Fastify({ handlerTimeout: 10_000 })
  t.teardown(() => app.close())
  let fault: Fault | undefined
  const fail = (place: Fault['place']) => {
    if (fault?.place === place) throw errors.create(fault.code)
  }
  await app.register(errorCatalogue, { include: [errors], locales: ['en'] })
  await app.register(unitOfWork, { database: transactions })
  await app.register(idempotency, {
    scope: () => 'a client',
    store: store === 'memory' ? memoryIdempotencyStore() : postgresIdempotencyStore(transactions, { schema })
  })
  for (const method of methods) {
    for (const transaction of [false, true]) {
      const key = method === 'POST' || method === 'PATCH' ? { idempotency: 'accepted' as const } : {}
      app.route<{ Params: { name: string } }>({
        method,
        url: `/${transaction ? 'together' : 'alone'}/:name`,
        config: { ...key, ...(transaction && { transaction }) },
        preHandler: async () => fail('before'),
        onSend: async (_request, reply) => {
          if (reply.statusCode < 400) fail('after')
        },
        handler: async (request) => {
          const { name } = request.params
          if (method !== 'GET')
            await (transaction ? request.transaction : database.client).query(`INSERT INTO ${table} VALUES ($1)`, [name])
          fail('handler')
          return { name }
        }
      })
    }
  }
  await app.ready()
  return { app, set: (next: Fault | undefined) => void (fault = next) }
}

interface Case extends Fault {
  readonly method: (typeof methods)[number]
  readonly url: string
  readonly isKeyed: boolean
}

const cases: Case[] = methods.flatMap((method) =>
  ['alone', 'together'].flatMap((url) =>
    (method === 'POST' || method === 'PATCH' ? [true, false] : [false]).flatMap((isKeyed) =>
      places.flatMap((place) => codes.map((code) => ({ method, url, isKeyed, place, code })))
    )
  )
)

interface Outcome {
  readonly retry: string
  readonly effect: string
}

function send(app: FastifyInstance, { method, url, isKeyed }: Pick<Case, 'method' | 'url' | 'isKeyed'>, name: string) {
  return app.inject({ method, url: `/${url}/${name}`, headers: { ...(isKeyed && { 'idempotency-key': `"${name}"` }) } })
}

for (const kind of kinds) {
  for (const store of ['database', 'memory'] as const) {
    t.test(`${kind}, keys in ${store}: what an error says of its request is true`, async (t) => {
      const things = await thingsOn(t, kind)
      const { app, set } = await service(t, things, store)
      for (const one of cases) {
        const { code, place, method, isKeyed } = one
        const what = `${method} ${one.url}${isKeyed ? ' with a key' : ''}: ${code} ${place}`
        const name = randomUUID()
        const count = async () => (await things.names()).filter((other) => other === name).length
        set({ code, place })
        const first = await send(app, one, name)
        const { retry, effect }: Outcome = first.json().error
        t.ok(['none', 'unknown'].includes(effect), `${what}: ${effect}`)
        if (effect === 'none') t.equal(await count(), 0, `${what}: no effect`)
        if (place === 'before' || one.url === 'together' || method === 'GET') t.equal(effect, 'none', `${what}: the effect is known`)
        const usual = { TAKEN: 'changed', MISSING: 'never', BUSY: 'later', BROKEN: 'never' }[code]
        set(undefined)
        if (retry !== 'later') {
          t.equal(retry, usual === 'later' ? 'never' : usual, what)
          if (usual === 'later') t.equal(effect, 'unknown', `${what}: a retry could repeat the effect`)
          continue
        }
        t.equal(usual, 'later', what)
        if (effect === 'unknown' && (method === 'PUT' || method === 'DELETE')) continue
        const again = await send(app, one, name)
        t.equal(again.statusCode, 200, `${what}: the same request succeeds later`)
        t.equal(await count(), method === 'GET' ? 0 : 1, `${what}: it has one effect`)
      }
    })
  }
}

t.test(
  'a connection that is lost at any round trip: the effect is what the database has, and a retry has one effect',
  onServer,
  async (t) => {
    const things = await thingsOn(t, 'PostgreSQL')
    const pool = new Pool({ connectionString: server, max: 2 })
    pool.on('error', () => {})
    t.teardown(() => pool.end())
    let [sent, lost, isExecuted] = [0, -1, false]
    const database = watched(pool, async (_sql, response) => {
      const isLost = sent++ === lost
      const result = isLost && !isExecuted ? undefined : await response()
      if (isLost) throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' })
      return result as NonNullable<typeof result>
    })
    const { app } = await service(t, things, 'database', database)
    const one = { method: 'POST', url: 'together', isKeyed: true } as const
    sent = 0
    t.equal((await send(app, one, randomUUID())).statusCode, 200)
    const roundTrips = sent
    t.ok(roundTrips >= 3, `${roundTrips} round trips`)
    const seen = new Set<string>()
    for (const isKeyed of [true, false]) {
      for (isExecuted of [false, true]) {
        for (let trip = 0; trip < roundTrips; trip += 1) {
          const name = randomUUID()
          const isThere = async () => (await things.names()).includes(name)
          ;[sent, lost] = [0, trip]
          const response = await send(app, { ...one, isKeyed }, name)
          lost = -1
          if (response.statusCode < 400) continue
          const { retry, effect }: Outcome = response.json().error
          const what = `${isKeyed ? 'with' : 'without'} a key, round trip ${trip}${isExecuted ? ', executed' : ''}: ${retry}, ${effect}`
          seen.add(`${retry} ${effect}`)
          if (effect === 'none') t.notOk(await isThere(), what)
          t.equal(retry, isKeyed || effect === 'none' ? 'later' : 'never', what)
          if (retry === 'never') continue
          t.equal((await send(app, { ...one, isKeyed }, name)).statusCode, 200, what)
          t.ok(await isThere(), what)
        }
      }
    }
    t.strictSame([...seen].toSorted(), ['later none', 'later unknown', 'never unknown'])
  }
)
