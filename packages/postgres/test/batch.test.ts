import t, { type Test } from 'tap'
import { batchService } from './batch-service.ts'
import { kinds, thingsOn } from './unit-of-work.ts'

/** Starts a service on a pool of one connection. */
async function service(t: Test, kind: 'PGlite' | 'PostgreSQL') {
  const things = await thingsOn(t, kind, { max: 1, connectionTimeoutMillis: 2000 })
  return { ...(await batchService(t, things)), things }
}

const list = { method: 'GET', path: '/things' }

for (const kind of kinds) {
  t.test(`on ${kind}`, async (t) => {
    t.test('runs each operation of a batch in its own transaction, so that one connection is enough [B1]', async (t) => {
      const { send, things, records } = await service(t, kind)
      const { statuses, outcomes } = await send('k', ['a', 'bad', 'b'], { last: [list] })
      t.strictSame(statuses, [201, 409, 201, 200])
      t.strictSame(outcomes[3]?.body, [{ name: 'a' }, { name: 'b' }])
      t.strictSame([await things.names(), await records()], [['a', 'b'], 4])
    })

    t.test('commits an atomic batch in one transaction, with the keys of its operations [B1]', async (t) => {
      const { send, things, records } = await service(t, kind)
      const first = await send('k', ['a', 'b'], { atomic: true })
      t.strictSame(first.statuses, [201, 201])
      t.strictSame([await things.names(), await records()], [['a', 'b'], 3])
      const again = await send('k', ['a', 'b'], { atomic: true })
      t.strictSame([again.response.body, again.response.headers['idempotency-replayed']], [first.response.body, 'true'])
      t.strictSame(await things.names(), ['a', 'b'])
    })

    t.test('rolls back an atomic batch when one operation fails, including the keys of its operations [B1]', async (t) => {
      const { send, things, records } = await service(t, kind)
      const refused = await send('k', ['a', 'bad', 'b'], { atomic: true })
      t.strictSame(refused.statuses, [424, 409, 424])
      const again = await send('k', ['a', 'bad', 'b'], { atomic: true })
      t.strictSame([again.response.body, again.isReplayed], [refused.response.body, true], 'a final response')
      t.strictSame([await things.names(), await records()], [[], 1])
      t.strictSame((await send('l', ['a', 'a'], { atomic: true })).statuses, [424, 500], 'a violated constraint')
      t.strictSame((await send('m', ['a'], { atomic: true, last: [list] })).statuses, [424, 409], 'an operation outside the transaction')
      t.strictSame(await things.names(), [])
      t.strictSame((await send('n', ['a', 'b'], { atomic: true })).statuses, [201, 201])
      t.strictSame(await things.names(), ['a', 'b'])
    })

    t.test('does not repeat operations that were done before a crash when the batch is sent again', async (t) => {
      const { send, things } = await service(t, kind)
      await send('k', ['a', 'b'])
      // The state that a process leaves when it ends before the response of the batch is stored.
      const schema = things.table.split('.')[0] as string
      await things.database.query(`UPDATE ${schema}.idempotency_keys SET status = NULL, lease_until = now() - interval '1 second'
        WHERE key = (SELECT key FROM ${schema}.idempotency_keys ORDER BY token LIMIT 1) RETURNING NULL AS json`)
      const { outcomes } = await send('k', ['a', 'b'])
      t.match(outcomes, [
        { status: 201, headers: { 'idempotency-replayed': 'true' } },
        { status: 201, headers: { 'idempotency-replayed': 'true' } }
      ])
      t.strictSame(await things.names(), ['a', 'b'])
    })
  })
}
