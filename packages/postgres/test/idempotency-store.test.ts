import { type IdempotencyStore, idempotencyStoreContract, type RequestTransaction } from '@concordat/idempotency'
import { migrate, type Postgres } from '@concordat/postgres'
import { idempotencyMigrations, postgresIdempotency } from '@concordat/postgres/idempotency'
import unitOfWork, { enclosingTransaction } from '@concordat/postgres/unit-of-work'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { connect, freshSchema, inMemory, server, without } from './database.ts'

t.setTimeout(120_000)
const onServer = server === undefined ? { skip: without } : {}
const runIn = (t: Test) => (title: string, run: () => Promise<void>) => t.test(title, run)

type Work = (transaction: RequestTransaction) => Promise<'commit' | 'rollback'>

/** Runs works in the transaction of a route each. */
async function transactions(t: Test, database: Postgres) {
  const app = Fastify({ handlerTimeout: 30_000 })
  t.teardown(() => app.close())
  await app.register(unitOfWork, { database })
  const works = new Map<string, { work: Work; failed: (error: unknown) => void }>()
  app.get<{ Params: { id: string } }>('/:id', { config: { transaction: true } }, async (request, reply) => {
    const found = works.get(request.params.id)
    const ending = await found?.work(enclosingTransaction(request) as RequestTransaction).catch(found.failed)
    return reply.code(ending === 'commit' ? 200 : 500).send({})
  })
  let count = 0
  return async (work: Work) => {
    const id = String((count += 1))
    const errors: unknown[] = []
    works.set(id, { work, failed: (error) => void errors.push(error) })
    await app.inject({ url: `/${id}` })
    if (errors.length > 0) throw errors[0]
  }
}

t.test('on PostgreSQL, by two pools', onServer, async (t) => {
  const schema = freshSchema(t)
  const [one, two] = [connect(t, { max: 20 }), connect(t, { max: 20 })]
  await migrate(one.database, idempotencyMigrations, { schema })
  const stores: IdempotencyStore[] = []
  t.teardown(() => Promise.all(stores.map((store) => store.close?.())))
  const made = (database: Postgres) => {
    const store = postgresIdempotency(database, { schema })
    stores.push(store)
    return store
  }
  const first = made(one.database)
  const second = made(two.database)
  idempotencyStoreContract(
    runIn(t),
    () => first,
    { createSecond: () => second, transact: await transactions(t, one.database) }
  )
})

t.test('on PGlite', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, idempotencyMigrations, { schema })
  const store = postgresIdempotency(database, { schema })
  idempotencyStoreContract(runIn(t), () => store, { transact: await transactions(t, database) })
})
