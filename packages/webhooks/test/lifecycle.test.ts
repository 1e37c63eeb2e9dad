import { setImmediate } from 'node:timers/promises'
import { until } from '@concordat/test-harness/until'
import webhooks, { everyOwner, memoryWebhookStore } from '@concordat/webhooks'
import { memoryWorkQueue } from '@concordat/work-queue'
import { testClock } from '@concordat/work-queue/testing'
import Fastify from 'fastify'
import t from 'tap'
import { startNameServer } from './name-server.ts'
import { day, events, historyOf, hour, minute, skipVerification, start, startService, startWitness } from './service.ts'
import { verifyAt } from './verify-at.ts'

// The timers of the attempts do not keep the process alive.
const alive = setInterval(() => {}, 1000)
t.teardown(() => clearInterval(alive))
const order = { id: '7', total: { amount: '12.50', currency: 'EUR' } }
const orders = ['order.created']
const defaultSchedule = [0, 5, 30, 120, 600, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

t.test('an event arrives once, with its type, time and data, and its attempt is recorded [W2] [W3]', async (t) => {
  const service = await startService(t)
  const { url, seen } = await startWitness(t, service.now, () => 204)
  const { id, keys } = await service.webhooks.subscribe('ada', { url, eventTypes: orders }, 2)
  const emitted = await service.webhooks.emit('order.created', order, { timestamp: new Date(start - 1000) })
  await service.clock.advance(10 * day)
  t.match(seen, [{ at: start, body: { type: 'order.created', timestamp: '2026-01-02T03:04:04.000Z', data: order } }])
  t.equal(seen.length, 1)
  t.equal(seen[0]?.headers['webhook-id'], emitted.id)
  verifyAt(start, seen[0]!.headers, seen[0]!.text, { keys: [keys[0]!.key] })
  const [delivery] = await historyOf(service, id)
  t.match(delivery, {
    status: 'delivered',
    attempts: 1,
    endedAt: start,
    messageId: emitted.id,
    tries: [{ number: 1, statusCode: 204, startedAt: start }]
  })
  t.equal(emitted.deliveries, 1)
})

t.test('attempts follow the schedule: never early, at most a fifth and a probe late, same id and bytes, new signature [W4]', async (t) => {
  const service = await startService(t)
  const { url, seen } = await startWitness(t, service.now, () => 500)
  const { id, keys } = await service.webhooks.subscribe('ada', { url, eventTypes: orders })
  await service.webhooks.emit('order.created', order)
  await service.clock.advance(91 * hour)
  const [delivery] = await historyOf(service, id)
  const times = delivery!.tries.map(({ startedAt }) => startedAt)
  t.equal(times.length, 12)
  for (const [index, seconds] of defaultSchedule.entries()) {
    const waited = (times[index]! - (times[index - 1] ?? start)) / 1000
    t.ok(waited >= seconds && waited <= seconds * 1.2 + 301, `attempt ${index + 1} was made after ${waited} s, scheduled ${seconds} s`)
  }
  for (const { headers, text, at } of seen) verifyAt(at, headers, text, { keys: [keys[0]!.key] })
  t.equal(new Set(seen.map(({ headers }) => headers['webhook-id'])).size, 1)
  t.equal(new Set(seen.map(({ text }) => text)).size, 1)
  t.equal(new Set(seen.map(({ headers }) => headers['webhook-signature'])).size, new Set(seen.map(({ at }) => Math.floor(at / 1000))).size)
  t.match(delivery, { status: 'failed', attempts: 12 })
  t.equal(delivery?.nextAttemptAt, undefined)
  t.strictSame(
    delivery?.tries.map(({ number, statusCode }) => [number, statusCode]),
    defaultSchedule.map((_, index) => [index + 1, 500])
  )
  t.strictSame(service.notices, [])
  const before = seen.length
  await service.clock.advance(day)
  t.equal(seen.length, before, 'without deliveries that wait, there are no probes')
})

t.test('the jitter adds up to a fifth of each delay [W4]', async (t) => {
  const scheduleSeconds = [0, 5, 30, 120, 600]
  for (const random of [0, 0.999_999]) {
    t.intercept(Math, 'random', { value: () => random, configurable: true, writable: true })
    const service = await startService(t, { scheduleSeconds })
    const { url } = await startWitness(t, service.now, () => 500)
    const { id } = await service.webhooks.subscribe('ada', { url, eventTypes: orders })
    await service.webhooks.emit('order.created', order)
    await service.clock.advance(20 * minute)
    const [{ tries } = { tries: [] }] = await historyOf(service, id)
    t.equal(tries.length, scheduleSeconds.length)
    for (const [index, seconds] of scheduleSeconds.entries()) {
      const waited = tries[index]!.startedAt - (tries[index - 1]?.startedAt ?? start)
      t.equal(waited, Math.ceil(seconds * 1000 * (1 + 0.2 * random)), `attempt ${index + 1} with the random number ${random}`)
    }
  }
})

t.test('deliveries that failed together are not retried together', async (t) => {
  const service = await startService(t, { scheduleSeconds: [0, 60], concurrency: 400, concurrencyPerOwner: 400 })
  const { url } = await startWitness(t, service.now, () => 500)
  const { id } = await service.webhooks.subscribe('ada', { url, eventTypes: orders })
  for (let count = 0; count < 200; count++) await service.webhooks.emit('order.created', order)
  await service.clock.advance(1000)
  const delays = (await historyOf(service, id)).map(({ nextAttemptAt }) => nextAttemptAt! - start)
  t.equal(delays.length, 200)
  t.ok(Math.min(...delays) >= 60_000 && Math.max(...delays) <= 72_001, `${Math.min(...delays)} to ${Math.max(...delays)} ms`)
  t.ok(new Set(delays).size > 100)
})

t.test(
  'the status code decides whether and when a delivery is tried again; Retry-After only of a throttled receiver, up to a day',
  async (t) => {
    t.intercept(Math, 'random', { value: () => 0, configurable: true, writable: true })
    const cases = [
      ...[200, 201, 204, 299].map((status) => [status, 90, { status: 'delivered', endedAt: start }] as const),
      [410, 90, { status: 'failed', endedAt: start, disabledReason: 'gone' }] as const,
      ...[429, 502, 503, 504].flatMap((status) => [
        [status, 10, { status: 'pending', nextAttemptAt: start + 60_000 }] as const,
        [status, 90, { status: 'pending', nextAttemptAt: start + 90_000 }] as const,
        [status, 86_400, { status: 'pending', nextAttemptAt: start + day }] as const,
        [status, 9e9, { status: 'pending', nextAttemptAt: start + day }] as const
      ]),
      ...[301, 302, 303, 304, 307, 308, 400, 404, 500, 501, 599].map(
        (status) => [status, 90, { status: 'pending', nextAttemptAt: start + 60_000 }] as const
      )
    ]
    const service = await startService(t, {
      scheduleSeconds: [0, 60],
      maxSubscriptions: 100,
      mayReceive: (subscriptions, { data }) => subscriptions.filter(({ description }) => description === (data as { name: string }).name)
    })
    const { url } = await startWitness(t, service.now, ({ body: { data } }) => {
      const { status, seconds } = data as { status: number; seconds: number }
      return { status, headers: { 'retry-after': String(seconds) } }
    })
    for (const [status, seconds, wanted] of cases) {
      const name = `${status} with Retry-After ${seconds}`
      // Owners do not share the pause of a receiver.
      const { id } = await service.webhooks.subscribe(name, { url, eventTypes: ['product.updated'], description: name })
      await service.webhooks.emit('product.updated', { name, status, seconds })
      await service.clock.advance(0)
      const [delivery] = await historyOf(service, id)
      const { disabledReason } = (await service.store.subscription(id))!
      const found = { status: delivery?.status, nextAttemptAt: delivery?.nextAttemptAt, endedAt: delivery?.endedAt, disabledReason }
      t.strictSame(found, { nextAttemptAt: undefined, endedAt: undefined, disabledReason: undefined, ...wanted }, name)
    }
  }
)

t.test('ten failures pause the receiver: one probe at a time, every ten seconds and after an hour every five minutes [W4]', async (t) => {
  const service = await startService(t)
  let [isUp, most, now] = [false, 0, 0]
  const { url, seen } = await startWitness(t, service.now, () => {
    most = Math.max(most, (now += 1))
    now -= 1
    return isUp ? 200 : 500
  })
  const { id } = await service.webhooks.subscribe('ada', { url, eventTypes: orders })
  for (let count = 0; count < 30; count++) await service.webhooks.emit('order.created', { ...order, id: String(count) })
  await service.clock.advance(900)
  const before = seen.length
  t.ok(before >= 10 && before < 30, `${before} attempts, including those in progress when the receiver was paused`)
  most = 0
  await service.clock.advance(1.5 * hour)
  t.equal(most, 1)
  const probes = seen.slice(before)
  const waits = probes.map(({ at }, index) => (at - (probes[index - 1]?.at ?? start)) / 1000)
  for (const [index, seconds] of [1, 2, 4, 7.5].entries()) t.ok(waits[index]! >= seconds && waits[index]! <= seconds * 1.2 + 0.1)
  for (const [index, { at }] of probes.entries()) {
    const wait = waits[index]!
    t.ok(at > start + hour ? wait <= 300 : wait <= 9, `probe ${index + 1} after ${wait} s`)
  }
  t.ok(waits.at(-1)! >= 250)
  // The deliveries that are due take turns, so that one that alone fails does not delay the others.
  t.ok(new Set(probes.slice(0, 20).map(({ text }) => text)).size > 5)
  t.equal((await service.store.subscription(id))?.status, 'enabled')
  isUp = true
  await service.clock.advance(5 * minute)
  const history = await historyOf(service, id)
  t.strictSame([...new Set(history.map(({ status }) => status))], ['delivered'])
  t.ok(history.every(({ attempts }) => attempts <= defaultSchedule.length))
  t.equal((await service.store.subscription(id))?.failingSince, undefined)
})

for (const [ordered, outage] of [
  [false, 60],
  [true, 7],
  [true, 60],
  [true, 3500]
] as const) {
  t.test(`${ordered ? 'ordered' : 'unordered'} deliveries arrive within 10 s after an outage of ${outage} s [W4]`, async (t) => {
    const service = await startService(t)
    const end = start + outage * 1000
    const { url, seen } = await startWitness(t, service.now, ({ at }) => (at < end ? 503 : 204))
    const one = await service.webhooks.subscribe('ada', { url, eventTypes: orders, ordered })
    const other = await service.webhooks.subscribe('ada', { url, eventTypes: orders, ordered: true })
    for (let count = 0; count < 30; count++) await service.webhooks.emit('order.created', { ...order, id: String(count) })
    await service.clock.advance(outage * 1000 - 1)
    const attempts = Math.max(...(await historyOf(service, one.id)).map((delivery) => delivery.attempts))
    const planned = defaultSchedule.filter((_, index) => sum(defaultSchedule.slice(0, index + 1)) < outage).length
    t.ok(attempts <= planned, `${attempts} of at most ${planned} attempts were used up`)
    await service.clock.advance(10_001)
    for (const { id } of ordered ? [one, other] : [other]) {
      const numbers = Array.from({ length: 30 }, (_, count) => count)
      const delivered = (await historyOf(service, id)).flatMap(({ messageId, endedAt, status }) =>
        status === 'delivered' ? { messageId, endedAt } : []
      )
      t.equal(delivered.length, 30)
      t.strictSame(
        delivered.map(({ messageId }) => messageId),
        (await historyOf(service, one.id)).map(({ messageId }) => messageId)
      )
      t.ok(numbers.every((number) => number === 0 || delivered[number]!.endedAt! >= delivered[number - 1]!.endedAt!))
    }
    t.ok(seen.find(({ at }) => at >= end)!.at <= end + 10_000)
    t.ok((await historyOf(service, one.id)).every(({ status }) => status === 'delivered'))
  })
}

t.test('a delivery that alone fails delays no others, and is not repeated with each of them', async (t) => {
  const service = await startService(t)
  const { url, seen } = await startWitness(t, service.now, ({ body }) => ((body.data as typeof order).id === 'bad' ? 500 : 204))
  const { id } = await service.webhooks.subscribe('ada', { url, eventTypes: orders })
  await service.webhooks.emit('order.created', { ...order, id: 'bad' })
  for (let count = 0; count < 120; count++) {
    await service.clock.advance(500)
    await service.webhooks.emit('order.created', order)
  }
  await service.clock.advance(100)
  const bad = seen.filter(({ body }) => (body.data as typeof order).id === 'bad').length
  t.ok(bad <= 12, `${bad} requests in a minute`)
  const [first, ...others] = await historyOf(service, id)
  t.match(first, { status: 'pending', attempts: 3 })
  t.ok(others.every(({ createdAt, endedAt }) => endedAt === createdAt))
})

t.test('the probes continue when the delivery that was the probe, or its subscription, is gone', async (t) => {
  const service = await startService(t)
  let isUp = false
  const { url, seen } = await startWitness(t, service.now, () => (isUp ? 204 : 500))
  const subscriptions = []
  for (let count = 0; count < 12; count++)
    subscriptions.push(await service.webhooks.subscribe('ada', { url, eventTypes: orders, ordered: count % 2 === 0 }))
  await service.webhooks.emit('order.created', order)
  await service.clock.advance(2 * minute)
  for (const [index, { id }] of subscriptions.slice(0, 10).entries()) {
    if (index < 5) await service.webhooks.unsubscribe('ada', id)
    else await service.webhooks.change('ada', id, { status: 'disabled' })
  }
  const before = seen.length
  await service.clock.advance(minute)
  t.ok(seen.length >= before + 5)
  isUp = true
  await service.clock.advance(10_000)
  for (const { id } of subscriptions.slice(10)) t.match(await historyOf(service, id), [{ status: 'delivered' }])
})

t.test(
  'updatedAt and the version change with everything that a subscription shows, also when its receiver fails and recovers [C1]',
  async (t) => {
    const service = await startService(t)
    let status = 204
    const { url } = await startWitness(t, service.now, () => status)
    const { id } = await service.webhooks.subscribe('ada', { url, eventTypes: orders })
    const shown = async () => (await service.app.inject({ url: `/webhook-subscriptions/${id}`, headers: { 'x-owner': 'ada' } })).json()
    const deliver = async (response: number) => {
      status = response
      await service.webhooks.emit('order.created', order)
      await service.clock.advance(2000)
    }
    const steps: readonly [string, () => Promise<unknown>, boolean][] = [
      ['a delivery', async () => deliver(204), false],
      ['a failure', async () => deliver(500), true],
      ['another failure', async () => deliver(500), false],
      ['a recovery', async () => deliver(204), true],
      ['a change', async () => service.webhooks.change('ada', id, { description: 'x' }), true],
      ['a new key', async () => service.webhooks.rotateKey('ada', id), true],
      ['the end of access', async () => service.webhooks.disableOwner('ada'), true]
    ]
    await service.clock.advance(2000)
    for (const [name, step, isChange] of steps) {
      const [before, state] = [await shown(), await service.webhooks.stateOf('ada', id)]
      const since = service.now()
      await step()
      const [after, stateAfter] = [await shown(), await service.webhooks.stateOf('ada', id)]
      t.equal(stateAfter?.updatedAt, Date.parse(after.updatedAt), name)
      if (!isChange) {
        t.strictSame([after, stateAfter], [before, state], name)
        continue
      }
      t.ok(Date.parse(after.updatedAt) >= since, name)
      t.not(stateAfter?.version, state?.version, name)
      await service.clock.advance(1000)
    }
    t.equal(await service.webhooks.stateOf('max', id), undefined)
  }
)

t.test('a probe without a result is replaced', async (t) => {
  const service = await startService(t)
  let isUp = false
  const { url, seen } = await startWitness(t, service.now, () => (isUp ? 200 : 500))
  const { id } = await service.webhooks.subscribe('ada', { url, eventTypes: orders })
  for (let count = 0; count < 12; count++) await service.webhooks.emit('order.created', order)
  await service.clock.advance(900)
  // The state after the probe was chosen, if the job of its delivery no longer exists.
  const [first] = await historyOf(service, id)
  await service.queue.cancel('webhook-deliveries', first!.id)
  const receiver = { owner: 'ada', origin: new URL(url).origin }
  const probe = { id: first!.id, chosenAt: service.clock.now() }
  await service.store.changeOutage(receiver, (current) => ({ ...current!, probe, nextProbeAt: service.clock.now() }))
  isUp = true
  const before = seen.length
  await service.clock.advance(89_000)
  t.equal(seen.length, before)
  await service.clock.advance(hour)
  t.equal((await historyOf(service, id)).filter(({ status }) => status === 'delivered').length, 11)
})

t.test('a subscription that fails for five days is disabled, and the owner’s other subscriptions get an event', async (t) => {
  const service = await startService(t)
  const { url, seen } = await startWitness(t, service.now, () => 500)
  const watcher = await startWitness(t, service.now, () => 200)
  const { id } = await service.webhooks.subscribe('ada', { url, eventTypes: orders })
  await service.webhooks.subscribe('ada', { url: watcher.url, eventTypes: ['webhook.subscription.disabled'] })
  await service.webhooks.subscribe('max', { url: watcher.url, eventTypes: ['webhook.subscription.disabled'] })
  for (let count = 0; count < 19; count++) {
    await service.webhooks.emit('order.created', order)
    await service.clock.advance(6 * hour)
  }
  t.equal((await service.store.subscription(id))?.status, 'enabled', 'not disabled earlier')
  for (let count = 0; count < 4; count++) {
    await service.webhooks.emit('order.created', order)
    await service.clock.advance(6 * hour)
  }
  const disabled = await service.store.subscription(id)
  t.match(disabled, { status: 'disabled', disabledReason: 'failing' })
  t.ok(disabled!.updatedAt - start >= 5 * day && disabled!.updatedAt - start <= 5.5 * day)
  t.strictSame(service.notices, [['disabled', id, 'failing']])
  t.strictSame(
    watcher.seen.map(({ body }) => body.data),
    [{ subscriptionId: id, reason: 'failing' }]
  )
  const before = seen.length
  t.equal((await service.webhooks.emit('order.created', order)).deliveries, 0)
  await service.clock.advance(4 * day)
  t.equal(seen.length, before)
  t.strictSame([...new Set((await historyOf(service, id)).map(({ status }) => status))].toSorted(), ['cancelled', 'failed'])
})

t.test('one success within the five days restarts them', async (t) => {
  const service = await startService(t)
  const { url } = await startWitness(t, service.now, (_seen, count) => (count % 20 === 0 ? 200 : 500))
  const { id } = await service.webhooks.subscribe('ada', { url, eventTypes: orders })
  for (let count = 0; count < 40; count++) {
    await service.webhooks.emit('order.created', order)
    await service.clock.advance(6 * hour)
  }
  t.equal((await service.store.subscription(id))?.status, 'enabled')
})

t.test('a 410 disables the subscription immediately', async (t) => {
  const service = await startService(t)
  const { url, seen } = await startWitness(t, service.now, () => 410)
  const { id } = await service.webhooks.subscribe('ada', { url, eventTypes: orders })
  await service.webhooks.emit('order.created', order)
  await service.clock.advance(5 * day)
  t.equal(seen.length, 1)
  t.match(await service.store.subscription(id), { status: 'disabled', disabledReason: 'gone', revision: 2 })
  t.match(await historyOf(service, id), [{ status: 'failed', attempts: 1 }])
  t.strictSame(service.notices, [['disabled', id, 'gone']])
})

t.test('Retry-After pauses all deliveries to a receiver', async (t) => {
  const service = await startService(t)
  const { url, seen } = await startWitness(t, service.now, (_seen, count) =>
    count === 1 ? { status: 429, headers: { 'retry-after': '1800' } } : 200
  )
  await service.webhooks.subscribe('ada', { url, eventTypes: orders })
  await service.webhooks.emit('order.created', order)
  await service.clock.advance(minute)
  await service.webhooks.emit('order.created', order)
  await service.clock.advance(29 * minute - 1000)
  t.equal(seen.length, 1)
  await service.clock.advance(hour)
  t.equal(seen.length, 3)
  t.ok(seen.slice(1).every(({ at }) => at >= start + 30 * minute))
})

t.test('after a rotation both keys sign for a day, then only the new key, and never more than three keys [W3]', async (t) => {
  const service = await startService(t)
  const { url, seen } = await startWitness(t, service.now, () => 200)
  const { id, keys } = await service.webhooks.subscribe('ada', { url, eventTypes: orders })
  const old = keys[0]!.key
  const rotated = (await service.webhooks.rotateKey('ada', id)).keys[0]!.key
  const send = async () => {
    await service.webhooks.emit('order.created', order)
    await service.clock.advance(1000)
    const { headers, text, at } = seen.at(-1)!
    const verifies = (key: string) => verifyAt(at, headers, text, { keys: [key] }) !== undefined
    return { count: String(headers['webhook-signature']).split(' ').length, verifies }
  }
  const during = await send()
  t.strictSame([during.count, during.verifies(old), during.verifies(rotated)], [2, true, true])
  await service.clock.advance(day)
  const after = await send()
  t.strictSame([after.count, after.verifies(rotated)], [1, true])
  t.throws(() => after.verifies(old), { code: 'WEBHOOK_SIGNATURE_INVALID' })
  for (let count = 0; count < 5; count++) await service.webhooks.rotateKey('ada', id)
  t.equal((await send()).count, 3)
})

t.test('ed25519 keys rotate like secrets', async (t) => {
  const service = await startService(t)
  const { url, seen } = await startWitness(t, service.now, () => 200)
  const { id } = await service.webhooks.subscribe('ada', { url, eventTypes: orders, signature: 'ed25519' })
  await service.webhooks.rotateKey('ada', id)
  await service.webhooks.emit('order.created', order)
  await service.clock.advance(1000)
  t.match(seen[0]?.headers['webhook-signature'], /^v1a,\S+ v1a,\S+$/)
})

t.test('ordered deliveries wait for the retries of the previous one; a permanent failure disables the subscription', async (t) => {
  const service = await startService(t)
  let status = 500
  const { url, seen } = await startWitness(t, service.now, () => status)
  const { id } = await service.webhooks.subscribe('ada', { url, eventTypes: orders, ordered: true })
  for (let count = 0; count < 5; count++) await service.webhooks.emit('order.created', { ...order, id: String(count) })
  await service.clock.advance(hour)
  t.strictSame([...new Set(seen.map(({ body }) => (body.data as typeof order).id))], ['0'])
  status = 200
  await service.clock.advance(3 * hour)
  t.strictSame([...new Set(seen.map(({ body }) => (body.data as typeof order).id))], ['0', '1', '2', '3', '4'])
  status = 500
  for (let count = 5; count < 8; count++) await service.webhooks.emit('order.created', { ...order, id: String(count) })
  await service.clock.advance(100 * hour)
  t.match(await service.store.subscription(id), { status: 'disabled', disabledReason: 'orderBroken' })
  t.strictSame(
    (await historyOf(service, id)).map((delivery) => delivery.status),
    ['delivered', 'delivered', 'delivered', 'delivered', 'delivered', 'failed', 'cancelled', 'cancelled']
  )
  status = 200
  await service.webhooks.change('ada', id, { status: 'enabled' })
  await service.webhooks.recover('ada', id, start, service.clock.now() + 1)
  await service.clock.advance(hour)
  t.strictSame(
    seen.slice(-3).map(({ body }) => (body.data as typeof order).id),
    ['5', '6', '7']
  )
})

t.test('concurrencyPerOwner limits the attempts for the receivers of an owner, and other owners do not wait', async (t) => {
  const service = await startService(t, { concurrencyPerOwner: 3 })
  const gate = Promise.withResolvers<void>()
  let atOnce = 0
  let most = 0
  const received = async () => {
    most = Math.max(most, ++atOnce)
    await gate.promise
    atOnce -= 1
    return 200
  }
  // Two could have one attempt each, which leaves the third to another receiver.
  const slow = await Promise.all([1, 2, 3].map(async () => startWitness(t, service.now, received)))
  const quick = await startWitness(t, service.now, () => 200)
  for (const { url } of slow) await service.webhooks.subscribe('ada', { url, eventTypes: orders })
  await service.webhooks.subscribe('max', { url: quick.url, eventTypes: orders })
  for (let count = 0; count < 20; count++) await service.webhooks.emit('order.created', order)
  const advanced = service.clock.advance(1000)
  await until(() => quick.seen.length === 20 && atOnce === 3)
  gate.resolve()
  await advanced
  await until(() => slow.every(({ seen }) => seen.length === 20))
  t.equal(most, 3)
})

t.test('a receiver that hangs leaves attempts to the other receivers of its owner', async (t) => {
  const service = await startService(t)
  let hanging = 0
  const slow = await startWitness(t, service.now, async () => {
    hanging += 1
    return new Promise(() => {})
  })
  const quick = await startWitness(t, service.now, () => 204)
  for (const { url } of [slow, slow, quick]) await service.webhooks.subscribe('ada', { url, eventTypes: orders })
  for (const { id } of await service.webhooks.subscriptions('ada', { limit: 3 })) await skipVerification(service, id)
  for (let count = 0; count < 100; count++) await service.webhooks.emit('order.created', order)
  await until(() => quick.seen.length === 100)
  t.ok(hanging > 0 && hanging <= 13, `${hanging} of twenty`)
})

t.test('pending deliveries of a disabled or removed subscription are not sent', async (t) => {
  const service = await startService(t)
  const { url, seen } = await startWitness(t, service.now, () => 500)
  const one = await service.webhooks.subscribe('ada', { url, eventTypes: orders })
  const two = await service.webhooks.subscribe('ada', { url, eventTypes: orders })
  await service.webhooks.emit('order.created', order)
  await service.clock.advance(1000)
  await service.webhooks.change('ada', one.id, { status: 'disabled' })
  await service.webhooks.unsubscribe('ada', two.id)
  await service.clock.advance(day)
  t.equal(seen.length, 2)
  t.match(await historyOf(service, one.id), [{ status: 'cancelled', attempts: 1 }])
  t.strictSame(await historyOf(service, two.id), [])
})

t.test(
  'a delivery is cancelled when its owner has lost the right to see the event, before the first attempt or before a retry',
  async (t) => {
    const allowed = new Set(['ada', 'max'])
    const service = await startService(t, {
      scheduleSeconds: [1, 60, 600],
      mayReceive: async (subscriptions) => subscriptions.filter(({ owner }) => allowed.has(owner))
    })
    const { url, seen } = await startWitness(t, service.now, () => 500)
    const ids = new Map<string, string>()
    for (const owner of ['ada', 'max']) ids.set(owner, (await service.webhooks.subscribe(owner, { url, eventTypes: orders })).id)
    await service.webhooks.emit('order.created', order)
    allowed.delete('ada')
    await service.clock.advance(2000)
    t.equal(seen.length, 1)
    allowed.delete('max')
    await service.clock.advance(day)
    t.equal(seen.length, 1)
    t.match(await historyOf(service, ids.get('ada') as string), [{ status: 'cancelled', attempts: 0 }])
    t.match(await historyOf(service, ids.get('max') as string), [{ status: 'cancelled', attempts: 1 }])
    await service.webhooks.ping('ada', ids.get('ada') as string)
    await service.clock.advance(2000)
    t.equal(seen.length, 2, 'a ping is about the subscription and not about an event')
  }
)

t.test('disableOwner disables every subscription of an owner, and administrators can list those of all owners', async (t) => {
  const service = await startService(t, { maxSubscriptions: 2000, scheduleSeconds: [1, 60] })
  const { url, seen } = await startWitness(t, service.now, () => 500)
  const input = { url, eventTypes: orders }
  for (let count = 0; count < 1001; count += 1) await service.webhooks.subscribe('ada', { ...input, eventTypes: ['product.updated'] })
  const mine = await service.webhooks.subscribe('ada', input)
  const others = await service.webhooks.subscribe('max', input)
  await service.webhooks.change('ada', mine.id, { status: 'disabled' })
  await service.webhooks.change('ada', mine.id, { status: 'enabled' })
  await service.webhooks.emit('order.created', order)
  t.equal(await service.webhooks.disableOwner('ada'), 1002)
  t.equal(await service.webhooks.disableOwner('ada'), 0)
  await service.clock.advance(2000)
  t.equal(seen.length, 1)
  t.match(await service.webhooks.subscription('ada', mine.id), { status: 'disabled', disabledReason: 'accessRevoked' })
  t.match(await service.webhooks.subscription('max', others.id), { status: 'enabled' })
  t.match(await service.webhooks.subscriptions(everyOwner, { limit: 2 }), [{ owner: 'max' }, { id: mine.id }])
})

t.test('an administrator disables, enables and removes any subscription, and its owner cannot enable it meanwhile', async (t) => {
  const { webhooks, notices } = await startService(t, { worker: false })
  const input = { url: 'https://hooks.example.com', eventTypes: orders }
  const { id } = await webhooks.subscribe('ada', input)
  t.equal(await webhooks.count(everyOwner, {}, 10), 1)
  await webhooks.change('ada', id, { status: 'disabled' })
  t.match(await webhooks.change(everyOwner, id, { status: 'disabled' }), { status: 'disabled', disabledReason: 'byAdministrator' })
  t.equal(await webhooks.disableOwner('ada'), 0)
  const refused = { statusCode: 409, code: 'WEBHOOK_DISABLED_BY_ADMINISTRATOR' }
  await t.rejects(webhooks.change('ada', id, { status: 'enabled' }), refused)
  await webhooks.change('ada', id, { status: 'disabled', description: 'mine' })
  await t.rejects(webhooks.change('ada', id, { status: 'enabled' }), refused)
  t.match(await webhooks.subscription('ada', id), { description: 'mine', disabledReason: 'byAdministrator' })
  t.match(await webhooks.change(everyOwner, id, { status: 'enabled' }), { status: 'enabled', disabledReason: undefined })
  await webhooks.change('ada', id, { status: 'disabled' })
  await webhooks.change('ada', id, { status: 'enabled' })
  await webhooks.unsubscribe(everyOwner, id)
  for (const owner of ['ada', everyOwner] as const)
    await t.rejects(webhooks.subscription(owner, id), { code: 'WEBHOOK_SUBSCRIPTION_NOT_FOUND' })
  t.strictSame(notices, [])
})

t.test('the address is checked again at each attempt, and a refusal is recorded without the address [W5]', async (t) => {
  const addresses = { 'hooks.example.com': ['10.0.0.1'] }
  await startNameServer(t, addresses)
  const service = await startService(t)
  const { id } = await service.webhooks.subscribe('ada', { url: 'https://hooks.example.com/', eventTypes: orders })
  await skipVerification(service, id)
  await service.webhooks.emit('order.created', order)
  await service.clock.advance(1000)
  addresses['hooks.example.com'] = []
  await service.clock.advance(10_000)
  const [delivery] = await historyOf(service, id)
  t.match(delivery?.tries, [{ failure: 'NO_PUBLIC_ADDRESS' }, { failure: 'NO_PUBLIC_ADDRESS' }])
  t.notMatch(JSON.stringify(delivery), '10.0.0.1')
})

t.test('a process that ends aborts attempts that hang, and does not count them as failures of the receiver', async (t) => {
  const service = await startService(t, { stopGraceSeconds: 0 })
  const begun = Promise.withResolvers<void>()
  const { url, seen } = await startWitness(t, service.now, () => {
    begun.resolve()
    return new Promise(() => {})
  })
  const { id } = await service.webhooks.subscribe('ada', { url, eventTypes: orders })
  await service.webhooks.emit('order.created', order)
  await begun.promise
  await service.app.close()
  t.equal(seen.length, 1)
  t.match(await historyOf(service, id), [{ status: 'pending', attempts: 0, tries: [] }])
  t.equal((await service.store.subscription(id))?.failingSince, undefined)
})

t.test('old deliveries are removed every minute, and a failed removal is logged', async (t) => {
  const timers = t.capture(globalThis, 'setInterval', (run: () => void, milliseconds: number) => setTimeout(run, milliseconds))
  const store = memoryWebhookStore()
  const lines: string[] = []
  const requested: number[] = []
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line) => void lines.push(line) } } })
  t.teardown(() => app.close())
  const failing = {
    ...store,
    async removeEndedBefore(time: number) {
      requested.push(time)
      throw new Error('The store is down.')
    }
  }
  await app.register(webhooks, { events, mayReceive: 'everyone', store: failing, queue: memoryWorkQueue({ clock: testClock(start) }) })
  await app.ready()
  const [clean] = timers.args().find(([, milliseconds]) => milliseconds === 60_000) as [() => void, number]
  clean()
  await setImmediate()
  t.strictSame(requested, [start - 30 * day])
  t.match(lines.join(), /The store is down.*old deliveries were not removed/)
})

t.test('old deliveries are removed with their attempts and messages; pending deliveries stay', async (t) => {
  const service = await startService(t, { retentionDays: 1 })
  const { url } = await startWitness(t, service.now, ({ body }) => ((body.data as typeof order).id === 'bad' ? 500 : 200))
  const { id } = await service.webhooks.subscribe('ada', { url, eventTypes: orders })
  const { id: messageId } = await service.webhooks.emit('order.created', order)
  await service.webhooks.emit('order.created', { ...order, id: 'bad' })
  await service.clock.advance(day - 1000)
  t.equal(await service.webhooks.removeOld(), 0)
  await service.clock.advance(2000)
  t.equal(await service.webhooks.removeOld(), 1)
  t.match(await historyOf(service, id), [{ status: 'pending' }])
  t.equal((await service.webhooks.emit('order.created', order, { id: messageId })).deliveries, 1, 'the id can be used again')
})
