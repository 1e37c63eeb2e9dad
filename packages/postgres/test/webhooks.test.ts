import { migrate } from '@concordat/postgres'
import { postgresWebhooks, webhookMigrations } from '@concordat/postgres/webhooks'
import { webhookStoreContract } from '@concordat/webhooks'
import t, { type Test } from 'tap'
import { connect, freshSchema, inMemory, server, without } from './database.ts'

const onServer = server === undefined ? { skip: without } : {}
const runIn = (t: Test) => (title: string, run: () => Promise<void>) => t.test(title, run)
t.setTimeout(120_000)

t.test('the store of webhooks on PostgreSQL', onServer, async (t) => {
  const schema = freshSchema(t)
  const { database } = connect(t)
  await migrate(database, webhookMigrations, { schema })
  webhookStoreContract(runIn(t), () => postgresWebhooks(database, { schema }))
})

t.test('the store of webhooks on PGlite', async (t) => {
  const { database, schema } = await inMemory()
  await migrate(database, webhookMigrations, { schema })
  webhookStoreContract(runIn(t), () => postgresWebhooks(database, { schema }))
})
