import type { Collection } from '@concordat/pagination-query'
import { checkIndexes } from '@concordat/pagination-query/check-indexes'
import { openDatabase } from '@concordat/postgres/open'
import { type EndOfTest, freshDatabase, type TestClient, testClient } from '@concordat/testing'
import tap from 'tap' // [tap]
import { buildApp } from '../src/app.ts'
import { prepare } from '../src/database.ts'
import { demoUser } from '../src/demo-user.ts' // [auth]
import { settings } from '../src/settings.ts'

// [tap] begin
// The first test prepares the database.
tap.setTimeout(120_000)
// [tap] end

const testSettings = settings({
  NODE_ENV: 'test',
  DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS: 'true', // [webhooks]
  LOG_LEVEL: 'error',
  PORT: '0'
})

/** Starts the service on a database of its own until the end of the test. Returns a client that checks every response against the description. */
// [not auth] export async function startService(t: EndOfTest): Promise<TestClient> {
// [auth] begin
export async function startServiceForAnyone(t: EndOfTest): Promise<TestClient> {
  // [auth] end
  return testClient(t, await buildApp({ ...testSettings, ...(await freshDatabase(t, { prepare })) }))
}

// [auth] begin
/** Does the same, and returns a client that has signed in. */
export async function startService(t: EndOfTest): Promise<TestClient> {
  const anyone = await startServiceForAnyone(t)
  return anyone.signIn('/v1/tokens', demoUser)
}
// [auth] end

/** Checks that the database has an index for every sort and filter of a collection. */
export async function requireIndexes(t: EndOfTest, collection: Collection) {
  const { databaseUrl: url, dataFolder: folder } = await freshDatabase(t, { prepare })
  const database = await openDatabase({ url, folder, prepare })
  await checkIndexes(database.postgres, collection).finally(() => database.close())
}
