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

// The times of the contract are short for a busy machine: here all last longer, and pass by moving what the table says.
const stretch = 100

function stretched(store: IdempotencyStore): IdempotencyStore {
  return {
    ...store,
    async begin(key, fingerprint, terms) {
      const { leaseMilliseconds, lifetimeMilliseconds } = terms
      const longer = { leaseMilliseconds: leaseMilliseconds * stretch, lifetimeMilliseconds: lifetimeMilliseconds * stretch }
      const outcome = await store.begin(key, fingerprint, { ...terms, ...longer })
      return outcome.state === 'busy' ? { ...outcome, leaseMilliseconds: outcome.leaseMilliseconds / stretch } : outcome
    },
    renew: (claim, milliseconds) => store.renew(claim, milliseconds * stretch),
    complete: (claim, answer, milliseconds) => store.complete(claim, answer, milliseconds * stretch)
  }
}

const moved = (column: string) => `${column} = ${column} - $1::integer * interval '1 millisecond'`

function passing(database: Postgres, schema: string) {
  return (milliseconds: number) =>
    database.query(`UPDATE ${schema}.idempotency_keys SET ${moved('lease_until')}, ${moved('expires_at')}`, [milliseconds * stretch])
}

t.test('on PostgreSQL, by two pools', onServer, async (t) => {
  const schema = freshSchema(t)
  const [one, two] = [connect(t, { max: 20 }), connect(t, { max: 20 })]
  await migrate(one.database, idempotencyMigrations, { schema })
  const [first, second] = [one, two].map(({ database }) => postgresIdempotency(database, { schema })) as [
    IdempotencyStore,
    IdempotencyStore
  ]
  t.teardown(() => Promise.all([first.close?.(), second.close?.()]))
  idempotencyStoreContract(runIn(t), () => stretched(first), {
    createSecond: () => stretched(second),
    pass: passing(one.database, schema),
    transact: await transactions(t, one.database)
  })
})

t.test('on PGlite', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, idempotencyMigrations, { schema })
  const store = stretched(postgresIdempotency(database, { schema }))
  idempotencyStoreContract(runIn(t), () => store, { pass: passing(database, schema), transact: await transactions(t, database) })
})
