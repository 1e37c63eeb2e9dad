import { randomUUID } from 'node:crypto'
import { administer, freshRoles, grantAsDocumented } from '@concordat/test-harness/database-roles'
import { onPgBouncer, startPgBouncer } from '@concordat/test-harness/pgbouncer'
import t, { type Test } from 'tap'
import { startService } from '../service.ts'
import { startChild } from './child.ts'
import { freshDatabase, placeOf, server } from './fresh-database.ts'

const onServer = server === undefined ? { skip: 'set TEST_DATABASE_URL' } : {}
// What the README of @concordat/postgres names.
const ignored = 'options, client_connection_check_interval, idle_in_transaction_session_timeout, statement_timeout, lock_timeout'

/** Places an order twice with one key, subscribes to a webhook, and waits for the export of all orders. */
async function works(t: Test, { call, as }: Pick<Awaited<ReturnType<typeof startService>>, 'call' | 'as'>) {
  const ada = await as('ada@example.com')
  const [product] = (await ada('GET', '/v1/products?discontinued=false&perPage=1')).body.data
  const key = randomUUID()
  const place = () => ada('POST', '/v1/orders', { items: [{ productId: product.id, quantity: 1 }] }, { 'idempotency-key': key })
  const [first, second] = [await place(), await place()]
  t.strictSame([first.status, second.status, second.body.data.id], [201, 201, first.body.data.id])
  const hook = await ada('POST', '/v1/webhook-subscriptions', { url: 'https://hooks.example.com/orders', eventTypes: ['order.created'] })
  t.equal(hook.status, 201)
  const { body } = await call('POST', '/v1/order-exports', {})
  const ended = await call('GET', `/v1/order-exports/${body.data.jobId}`, undefined, { prefer: 'wait=30' })
  t.equal(ended.body.data.status, 'completed')
  t.equal((await call('GET', '/health/ready')).status, 200)
}

t.test('starts and works with a role that may create nothing, when its owner has started it once', onServer, async (t) => {
  const roles = await freshRoles(t, String(server))
  await grantAsDocumented(roles)
  const { app } = await startService(t, { place: placeOf(roles.owner) })
  await app.close()
  await works(t, await startService(t, { place: placeOf(roles.service) }))
})

t.test('does not start with a role that may create nothing on an empty database, and names the remedy in one line', onServer, async (t) => {
  const roles = await freshRoles(t, String(server))
  await administer(roles.admin, `REVOKE ALL ON SCHEMA public FROM PUBLIC`)
  const { code, err } = await startChild(t, { DATABASE_URL: roles.service }).ended
  t.equal(code, 1)
  t.match(
    err,
    /^Cannot start: postgres: the schema concordat cannot be migrated: permission denied .*\. Run it once with the role that owns the tables.*\n$/
  )
})

t.test('starts and works behind a PgBouncer in transaction mode that ignores the startup parameters', onPgBouncer, async (t) => {
  const { databaseUrl = '' } = await freshDatabase(t)
  const pooled = await startPgBouncer(databaseUrl, ignored)
  t.teardown(() => pooled.stop())
  await works(t, await startService(t, { place: placeOf(pooled.url) }))
})

t.test('does not start behind another PgBouncer, and names the remedy in one line', onPgBouncer, async (t) => {
  const { databaseUrl = '' } = await freshDatabase(t)
  const pooled = await startPgBouncer(databaseUrl, 'extra_float_digits')
  t.teardown(() => pooled.stop())
  const { code, err } = await startChild(t, { DATABASE_URL: pooled.url }).ended
  t.equal(code, 1)
  t.match(err, /^Cannot start: postgres: PgBouncer refuses the startup parameter \w+\. Set ignore_startup_parameters = .*\n$/)
})
