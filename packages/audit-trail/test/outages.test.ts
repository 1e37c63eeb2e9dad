import { mock } from 'node:test'
import auditTrail, { type AuditRecord, type AuditTrailStore } from '@concordat/audit-trail'
import { publish } from '@concordat/plugin-kit/wiring'
import { turns, until } from '@concordat/test-harness/until'
import Fastify from 'fastify'
import t, { type Test } from 'tap'

type Add = (records: readonly AuditRecord[]) => Promise<void>

/** Starts a service whose store does what `add` does. `url` names the client. */
async function service(t: Test, add: Add, clientOf: (request: { url: string }) => string | undefined = ({ url }) => url) {
  const lost: unknown[] = []
  const lines: { level: number; msg: string }[] = []
  const app = Fastify({ logger: { level: 'error', stream: { write: (line) => void lines.push(JSON.parse(line)) } } })
  t.teardown(() => app.close())
  publish(app, {
    observer: {
      count: ({ name }: { name: string }, attributes: { reason: string }) => lost.push([name, attributes.reason]),
      record: () => {}
    } as never,
    clients: { clientOf, identityOf: () => undefined } as never
  })
  const store: AuditTrailStore = { add, source: { records: () => [] } }
  await app.register(auditTrail, { store })
  app.post('/*', async ({ url }, reply) => reply.code(url.includes('refused') ? 403 : 200).send({}))
  const send = async (url: string, count: number) => {
    for (let sent = 0; sent < count; sent += 1) await app.inject({ method: 'POST', url })
  }
  return { app, send, lost, lines }
}

const refuse: Add = async () => {
  throw new Error('The database is down.')
}

t.test('records that arrive together are stored by one call, at most 500 in each', async (t) => {
  const calls: number[] = []
  const { app, send } = await service(t, async (records) => void calls.push(records.length))
  await send('/ada', 700)
  await app.close()
  t.equal(
    calls.reduce((sum, count) => sum + count, 0),
    700
  )
  t.ok(calls.every((count) => count <= 500))
})

t.test(
  'while the store is down, a client fills a tenth of the queue, further records are counted as lost, and one line says so',
  async (t) => {
    const { app, send, lost, lines } = await service(t, refuse)
    await send('/ada', 1003)
    t.strictSame(
      lost,
      Array.from({ length: 3 }, () => ['concordat.audit_trail.lost', 'queueFull'])
    )
    await send('/bob', 1)
    t.equal(lost.length, 3, 'another client is recorded')
    await until(() => lines.length === 2)
    await app.close()
    t.strictSame(lost.length, 3 + 1001)
    t.strictSame(lost.at(-1), ['concordat.audit_trail.lost', 'closed'])
    t.strictSame(lines.map(({ msg }) => msg).toSorted(), [
      'audit-trail: records are lost',
      'audit-trail: records are lost',
      'audit-trail: records cannot be stored'
    ])
  }
)

t.test('the queue is limited for all clients together', async (t) => {
  const { send, lost } = await service(t, refuse)
  for (let client = 0; client < 8; client += 1) await send(`/${client}`, 1000)
  t.equal(lost.length, 0)
  await send('/one-more', 2)
  t.equal(lost.length, 2)
})

t.test('refusals fill their own places, and none of what changed something', async (t) => {
  const { send, lost } = await service(t, refuse)
  for (let client = 0; client < 2003; client += 1) await send(`/refused/${client}`, 2)
  t.strictSame(
    lost,
    Array.from({ length: 3 }, () => ['concordat.audit_trail.lost', 'queueFull'])
  )
  await send('/ada', 1000)
  t.equal(lost.length, 3)
})

t.test('the clients whose repeated refusals are counted are limited', async (t) => {
  const { send, lost } = await service(t, async () => {})
  for (let client = 0; client < 5002; client += 1) await send(`/refused/${client}`, 1)
  t.ok(lost.length >= 2)
  t.strictSame(lost[0], ['concordat.audit_trail.lost', 'queueFull'])
})

t.test('a store that is available again gets the same records', async (t) => {
  const stored: AuditRecord[] = []
  const tried: (readonly AuditRecord[])[] = []
  const { send, lost } = await service(t, async (records) => {
    tried.push(records)
    if (tried.length < 3) await refuse(records)
    stored.push(...records)
  })
  await send('/ada', 2)
  await until(() => stored.length === 2)
  t.strictSame(tried[0]?.[0], stored[0])
  t.strictSame(lost, [])
})

t.test('records that no attempt could store are counted as lost, and those behind them are stored', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  let calls = 0
  const stored: AuditRecord[] = []
  const { send, lost } = await service(t, async (records) => {
    calls += 1
    if (calls <= 7) await refuse(records)
    stored.push(...records)
  })
  await send('/ada', 501)
  for (let attempt = 0; attempt < 7; attempt += 1) {
    mock.timers.tick(20_000)
    await turns()
  }
  t.strictSame(
    lost,
    Array.from({ length: 500 }, () => ['concordat.audit_trail.lost', 'storeFailed'])
  )
  t.equal(stored.length, 1)
})

t.test('a store that hangs delays the end of the service by two seconds, and no request', async (t) => {
  const { app, send, lost } = await service(t, () => new Promise(() => {}))
  await send('/ada', 3)
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const closing = app.close()
  await turns()
  t.equal(lost.length, 0)
  mock.timers.tick(2000)
  await closing
  t.equal(lost.length, 3)
})

t.test('the connections of an address without a client fill a tenth of the queue together, also with their ports', async (t) => {
  const { app, lost } = await service(t, refuse, () => undefined)
  for (let port = 1; port <= 1002; port += 1) await app.inject({ method: 'POST', url: '/', remoteAddress: `203.0.113.7:${port}` })
  t.equal(lost.length, 2)
  await app.inject({ method: 'POST', url: '/', remoteAddress: '203.0.113.8:1' })
  t.equal(lost.length, 2, 'another address is recorded')
  await app.close()
})
