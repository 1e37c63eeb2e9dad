import { auditTrailStoreContract } from '@concordat/audit-trail/testing'
import { apiKeyStoreContract, revocationStoreContract } from '@concordat/authentication/testing'
import { fileStoreContract } from '@concordat/files/testing'
import { idempotencyStoreContract } from '@concordat/idempotency/testing'
import { jobStoreContract } from '@concordat/jobs/testing'
import { type Migration, migrate } from '@concordat/postgres'
import { apiKeyMigrations, postgresApiKeyStore } from '@concordat/postgres/api-keys'
import { auditTrailMigrations, postgresAuditTrailStore } from '@concordat/postgres/audit-trail'
import { fileMigrations, postgresFileStore } from '@concordat/postgres/files'
import { loginAttemptMigrations, postgresLoginAttemptStore } from '@concordat/postgres/login-attempts'
import { type OpenDatabase, openDatabase } from '@concordat/postgres/open'
import { postgresRateLimitStore, rateLimitMigrations } from '@concordat/postgres/rate-limits'
import { postgresRefreshTokenStore, refreshTokenMigrations } from '@concordat/postgres/refresh-tokens'
import { postgresRevocationStore, revocationMigrations } from '@concordat/postgres/revocations'
import { postgresStores, storeMigrations } from '@concordat/postgres/stores'
import { rateLimitStoreContract } from '@concordat/rate-limiting/testing'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { administer, freshRoles, grantAsDocumented } from '@concordat/test-harness/database-roles'
import { loginAttemptStoreContract, refreshTokenStoreContract } from '@concordat/token-issuing/testing'
import { webhookStoreContract } from '@concordat/webhooks/testing'
import type { WorkQueue } from '@concordat/work-queue'
import t, { type Test } from 'tap'
import { onServer, server } from './database.ts'

const all = [
  ...apiKeyMigrations,
  ...auditTrailMigrations,
  ...fileMigrations,
  ...loginAttemptMigrations,
  ...rateLimitMigrations,
  ...refreshTokenMigrations,
  ...revocationMigrations,
  ...storeMigrations
]
const next: Migration = { component: 'trees', version: 1, statements: ['CREATE TABLE {schema}.trees (name text)'] }

async function open(t: Test, url: string, migrations?: readonly Migration[]): Promise<OpenDatabase> {
  const database = await openDatabase({ url, ...(migrations && { prepare: ({ postgres }) => migrate(postgres, migrations) }) })
  t.teardown(() => database.close())
  return database
}

async function openQueue(t: Test, database: OpenDatabase): Promise<WorkQueue> {
  const queue = await database.openQueue()
  t.teardown(() => queue.close(0))
  return queue
}

/** Runs one job, and returns its payload. */
async function payloadOfJob(queue: WorkQueue, name: string) {
  const done = Promise.withResolvers<unknown>()
  queue.work(name, async ({ payload }) => (done.resolve(payload), { done: true }), { concurrency: 1 })
  await queue.enqueue(name, [{ payload: name }])
  return done.promise
}

/** A database that its owner has prepared, and the documented rights of the service. */
async function preparedRoles(t: Test) {
  const roles = await freshRoles(t, server)
  await grantAsDocumented(roles)
  const queue = await openQueue(t, await open(t, roles.owner, all))
  await queue.define('greetings')
  await queue.define('letters', { ordered: true })
  return roles
}

t.test('a role with only the documented rights starts and uses every store, when its owner has migrated', onServer, async (t) => {
  const { owner, app, service } = await preparedRoles(t)
  await administer(owner, `REVOKE UPDATE ON concordat.audit_records FROM ${app}`)
  await administer(owner, `GRANT UPDATE (repetitions) ON concordat.audit_records TO ${app}`)
  const { postgres } = await open(t, service, all)
  const { idempotency, jobs, webhooks } = postgresStores(postgres)
  t.teardown(() => idempotency.close?.())
  await t.test('idempotency', async (t) => idempotencyStoreContract(casesOf(t, 8), () => idempotency))
  await t.test('jobs', async (t) => jobStoreContract(casesOf(t), () => jobs))
  await t.test('webhooks', async (t) => webhookStoreContract(casesOf(t), () => webhooks))
  await t.test('the audit trail, of whose records it may change the number of repetitions', async (t) => {
    auditTrailStoreContract(casesOf(t), () => postgresAuditTrailStore(postgres))
    await t.rejects(postgres.query("UPDATE concordat.audit_records SET subject = 'eve'"), { code: '42501' })
  })
  await t.test('files', async (t) => fileStoreContract(casesOf(t), () => postgresFileStore(postgres)))
  await t.test('API keys', async (t) => apiKeyStoreContract(casesOf(t), () => postgresApiKeyStore(postgres)))
  await t.test('refresh tokens', async (t) => refreshTokenStoreContract(casesOf(t), () => postgresRefreshTokenStore(postgres)))
  await t.test('revocations', async (t) => revocationStoreContract(casesOf(t), () => postgresRevocationStore(postgres)))
  await t.test('rate limits', async (t) => rateLimitStoreContract(casesOf(t), () => postgresRateLimitStore(postgres)))
  await t.test('sign-ins', async (t) => loginAttemptStoreContract(casesOf(t), () => postgresLoginAttemptStore(postgres)))
})

t.test('a role with only the documented rights works on queues that its owner defined, and defines others', onServer, async (t) => {
  const { service } = await preparedRoles(t)
  const queue = await openQueue(t, await open(t, service))
  for (const name of ['greetings', 'farewells']) {
    await queue.define(name)
    t.equal(await payloadOfJob(queue, name), name)
  }
  await t.rejects(queue.define('letters'), { name: 'TypeError', message: /"letters" was created with order/ })
})

t.test('a role that may not create gets one line with the remedy when a migration is missing, and nothing changes', onServer, async (t) => {
  const { owner, service } = await preparedRoles(t)
  await t.rejects(open(t, service, [...all, next]), {
    message:
      'postgres: the schema concordat cannot be migrated: permission denied for schema concordat. Run it once with the role that owns the tables, or grant this role the right.',
    cause: { code: '42501' }
  })
  await open(t, owner, [...all, next])
  const database = await open(t, service, [...all, next])
  await database.query("INSERT INTO concordat.trees VALUES ('oak')")
  t.strictSame(await database.query('SELECT name FROM concordat.trees'), [{ name: 'oak' }], 'the new table has the rights of the others')
})

t.test('a role that may not create gets one line with the remedy on an empty database', onServer, async (t) => {
  const { service } = await freshRoles(t, server)
  await t.rejects(open(t, service, all), {
    message:
      /^postgres: the schema concordat cannot be migrated: permission denied for database (\w+)\. Run it once .+: GRANT CREATE ON DATABASE \1 TO …\.$/
  })
  const queue = await openQueue(t, await open(t, service))
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await t.rejects(queue.define('greetings'), {
      message:
        /^work-queue: the tables of the queues cannot be created in the schema concordat_queue: permission denied for database \w+\. Run it once/
    })
  }
})

t.test('a role that may create in the schemas, but no schema, migrates and creates the queues', onServer, async (t) => {
  const { admin, app, service } = await freshRoles(t, server)
  await administer(admin, ...['concordat', 'concordat_queue'].map((schema) => `CREATE SCHEMA ${schema} AUTHORIZATION ${app}`))
  const queue = await openQueue(t, await open(t, service, all))
  await queue.define('greetings')
  t.equal(await payloadOfJob(queue, 'greetings'), 'greetings')
})

t.test('a role that may not add queues works on those that exist, and gets one line with the remedy for another', onServer, async (t) => {
  const { owner, app, service } = await preparedRoles(t)
  await administer(owner, `REVOKE INSERT, UPDATE, DELETE ON concordat_queue.queue FROM ${app}`)
  const queue = await openQueue(t, await open(t, service))
  await queue.define('greetings')
  t.equal(await payloadOfJob(queue, 'greetings'), 'greetings')
  await t.rejects(queue.define('farewells'), {
    message:
      'work-queue: the queue "farewells" cannot be defined: permission denied for table queue. Run it once with the role that owns the tables, or grant this role the right.'
  })
})
