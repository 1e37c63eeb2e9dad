// In a process of its own: all of its modules get another version of a package.
import { registerHooks } from 'node:module'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { testClock, workQueueContract } from '@concordat/work-queue/testing'
import t from 'tap'
import { requireSameTaking } from './copied-statement.ts'
import { connect, freshSchema, inMemory, inTransaction, onServer, schemaName } from './database.ts'

// Every module of this process gets the lowest version that the package accepts; all other tests run with the installed one.
const lowest = import.meta.resolve('pg-boss-floor')
registerHooks({ resolve: (specifier, context, next) => next(specifier === 'pg-boss' ? lowest : specifier, context) })
const { PgBoss } = await import('pg-boss')
const { postgresWorkQueue } = await import('@concordat/postgres/work-queue')

t.test('these tests run with the lowest version of pg-boss that the package accepts', async (t) => {
  t.equal(PgBoss, (await import('pg-boss-floor')).PgBoss)
})

t.test('the queue on PGlite', async (t) => {
  const { pglite } = await inMemory()
  const clock = testClock()
  const queue = postgresWorkQueue(pglite, { schema: schemaName(), clock })
  t.teardown(() => queue.close())
  workQueueContract(casesOf(t), () => ({ queue, clock, transaction: (work) => pglite.transaction((open) => work(open)) }))
})

t.test('the queue on PostgreSQL', onServer, async (t) => {
  const { pool } = connect(t, { max: 5 })
  const clock = testClock()
  const queue = postgresWorkQueue(pool, { schema: freshSchema(t), clock })
  t.teardown(() => queue.close())
  workQueueContract(casesOf(t), () => ({ queue, clock, transaction: (work) => inTransaction(pool, work) }))
})

t.test('takes the jobs of keys as pg-boss takes jobs', onServer, (t) => requireSameTaking(t, postgresWorkQueue))
