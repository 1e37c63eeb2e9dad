import { administer } from '@concordat/test-harness/database-roles'
import { until } from '@concordat/test-harness/until'
import t from 'tap'
import { signIn, startChild } from './child.ts'
import { environmentOf, freshDatabase, server } from './fresh-database.ts'

const onServer = { skip: server === undefined && 'set TEST_DATABASE_URL to the address of a PostgreSQL server' }

t.test('logs each failure of an outage of the database once, and serves again after it', onServer, async (t) => {
  const place = await freshDatabase(t)
  const child = startChild(t, { ...environmentOf(place), LOG_LEVEL: 'error' })
  const address = await child.address
  const headers = await signIn(address)
  const name = new URL(place.databaseUrl as string).pathname.slice(1)
  const statusOf = async (path: string) => (await fetch(`${address}${path}`, { headers })).status

  await administer(server as string, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
  await administer(server as string, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`)
  await until(async () => (await statusOf('/health/ready')) === 503, 50)
  for (let probe = 0; probe < 200; probe += 1) {
    const statuses = [await statusOf('/health/ready'), await statusOf('/v2/orders'), await statusOf('/v2/products')]
    t.strictSame(statuses, [503, 503, 503])
  }
  // The revocations are out of date, so the feed has failed several times too.
  const codeOf = async (path: string) => {
    const body = (await (await fetch(`${address}${path}`, { headers })).json()) as { readonly error?: { readonly code: string } }
    return body.error?.code
  }
  await until(async () => (await codeOf('/v2/orders')) === 'AUTHENTICATION_UNAVAILABLE', 100)
  await administer(server as string, `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
  await until(async () => (await statusOf('/health/ready')) === 200 && (await statusOf('/v2/orders')) === 200, 50)

  child.process.kill('SIGTERM')
  const lines = (await child.ended).out.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
  const kinds = lines.map(({ msg, err }) => `${msg}: ${err.code ?? err.message}`)
  t.comment(kinds.join(', '))
  for (const source of ['database', 'queue', 'request failed'])
    t.ok(
      kinds.some((kind) => kind.startsWith(source)),
      source
    )
  t.ok(lines.length < 30, `${lines.length} lines for 600 failed requests, polls and lost connections`)
})
