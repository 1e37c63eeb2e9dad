import { migrate } from '@concordat/postgres'
import { loginAttemptMigrations } from '@concordat/postgres/login-attempts'
import { rateLimitMigrations } from '@concordat/postgres/rate-limits'
import { refreshTokenMigrations } from '@concordat/postgres/refresh-tokens'
import { revocationMigrations } from '@concordat/postgres/revocations'
import { startChild } from '@concordat/test-harness/child'
import { proxyOf } from '@concordat/test-harness/proxy'
import { testCounting, testRevocations, testSessions } from '@concordat/test-harness/two-processes'
import t, { type Test } from 'tap'
import { connect, freshSchema, onServer, server } from './database.ts'

const all = [...loginAttemptMigrations, ...rateLimitMigrations, ...refreshTokenMigrations, ...revocationMigrations]

/** Prepares a schema, a proxy to its server that can be cut, and a function that starts processes which use the schema. */
async function prepared(t: Test) {
  const schema = freshSchema(t)
  await migrate(connect(t).database, all, { schema })
  const start = (file: string, url: string, ...more: string[]) => startChild(t, new URL(file, import.meta.url), [url, schema, ...more])
  return { start, proxy: await proxyOf(t, server) }
}

t.test('protects the routes of two processes', onServer, async (t) => {
  const { start, proxy } = await prepared(t)
  const [here, there] = await Promise.all([start('protected-service.ts', server), start('protected-service.ts', proxy.url)])
  await testRevocations(t, { here, there, proxy })
  await testSessions(t, { here, there })
})

t.test('counts for two processes together', onServer, async (t) => {
  const { start, proxy } = await prepared(t)
  const [lenient, strict] = await Promise.all([
    start('counted-service.ts', proxy.url, 'countLocally'),
    start('counted-service.ts', proxy.url, 'refuse')
  ])
  await testCounting(t, { lenient, strict, proxy })
})
