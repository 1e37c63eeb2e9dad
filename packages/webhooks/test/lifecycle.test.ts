import { setImmediate } from 'node:timers/promises'
import webhooks, { defaultSchedule, everyOwner, memoryWebhookStore } from '@concordat/webhooks'
import { verifyWebhook } from '@concordat/webhooks/receiver'
import { memoryWorkQueue } from '@concordat/work-queue'
import Fastify from 'fastify'
import t from 'tap'
import { day, events, historyOf, hour, minute, skipVerification, start, startService, startWitness } from './service.ts'

// The timers of the attempts do not keep the process alive.
const alive = setInterval(() => {}, 1000)
t.teardown(() => clearInterval(alive))
const order = { id: '7', total: { amount: '12.50', currency: 'EUR' } }
const orders = ['order.created']

t.test('an event arrives once, with its type, time and data, and its attempt is recorded [W2] [W3]', async (t) => {
  const service = await startService(t)
  const { url, seen } = await startWitness(t, service.now, () => 204)
  const { id, keys } = await service.webhooks.subscribe('ada', { url, eventTypes: orders }, 2)
  const emitted = await service.webhooks.emit('order.created', order, { timestamp: new Date(start - 1000) })
  await service.clock.advance(10 * day)
  t.match(seen, [{ at: start, body: { type: 'order.created', timestamp: '2026-01-02T03:04:04.000Z', data: order } }])
  t.equal(seen.length, 1)
  t.equal(seen[0]?.headers['webhook-id'], emitted.id)
  verifyWebhook(seen[0]!.headers, seen[0]!.text, { keys: [keys[0]!.key], now: () => start })
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

t.test('attempts follow the schedule: never early, at most a fifth late, same id and bytes, new signature [W4]', async (t) => {
  const service = await startService(t)
  const { url, seen } = await startWitness(t, service.now, () => 500)
  const { id, keys } = await service.webhooks.subscribe('ada', { url, eventTypes: orders })
  await service.webhooks.emit('order.created', order)
  await service.clock.advance(91 * hour)
  t.equal(seen.length, 12)
  for (const [index, seconds] of defaultSchedule.entries()) {
    const waited = (seen[index]!.at - (seen[index - 1]?.at ?? start)) / 1000
    t.ok(waited >= seconds && waited <= seconds * 1.2 + 1, `attempt ${index + 1} was made after ${waited} s, scheduled ${seconds} s`)
    verifyWebhook(seen[index]!.headers, seen[index]!.text, { keys: [keys[0]!.key], now: () => seen[index]!.at, toleranceSeconds: 1 })
  }
  t.equal(new Set(seen.map(({ headers }) => headers['webhook-id'])).size, 1)
  t.equal(new Set(seen.map(({ text }) => text)).size, 1)
  t.equal(new Set(seen.map(({ headers }) => headers['webhook-signature'])).size, 12)
  const [delivery] = await historyOf(service, id)
  t.match(delivery, { status: 'failed', attempts: 12 })
  t.equal(delivery?.nextAttemptAt, undefined)
  t.strictSame(
    delivery?.tries.map(({ number, statusCode }) => [number, statusCode]),
    defaultSchedule.map((_, index) => [index + 1, 500])
  )
  t.strictSame(service.notices, [['failed', delivery?.id]])
})

t.test(
  'defaultSchedule is the schedule of Standard Webhooks with more attempts at the start, and the jitter adds up to a fifth of each delay [W4]',
  async (t) => {
    t.strictSame(
      defaultSchedule.filter((seconds) => seconds < 300 || seconds >= 1800),
      [0, 5, 30, 120, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
    )
    for (const random of [0, 0.999_999]) {
      t.intercept(Math, 'random', { value: () => random, configurable: true, writable: true })
      const service = await startService(t, { health: { breakerFailures: 1000 } })
      const { url, seen } = await startWitness(t, service.now, () => 500)
      await service.webhooks.subscribe('ada', { url, eventTypes: orders })
      await service.webhooks.emit('order.created', order)
      await service.clock.advance(91 * hour)
      t.equal(seen.length, 12)
      for (const [index, seconds] of defaultSchedule.entries()) {
        const waited = seen[index]!.at - (seen[index - 1]?.at ?? start)
        // Other pauses of the receiver can only add to the delay: the breaker opens after the last attempt.
        t.equal(waited, Math.ceil(seconds * 1000 * (1 + 0.2 * random)), `attempt ${index + 1} with the random number ${random}`)
      }
    }
  }
)

t.test('deliveries that failed together are not retried together', async (t) => {
  const service = await startService(t, { scheduleSeconds: [0, 60], health: { breakerFailures: 1000 } })
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
      const { id } = await service.webhooks.subscribe('ada', { url, eventTypes: ['product.updated'], description: name })
      await service.webhooks.emit('product.updated', { name, status, seconds })
      await service.clock.advance(0)
      const [delivery] = await historyOf(service, id)
      const { disabledReason } = (await service.store.subscription(id))!
      const found = { status: delivery?.status, nextAttemptAt: delivery?.nextAttemptAt, endedAt: delivery?.endedAt, disabledReason }
      t.strictSame(found, { nextAttemptAt: undefined, endedAt: undefined, disabledReason: undefined, ...wanted }, name)
    }
  }
)

t.test('scheduleSeconds replaces the schedule [W4]', async (t) => {
  const service = await startService(t, { scheduleSeconds: [10, 20] })
  const { url, seen } = await startWitness(t, service.now, () => 500)
  await service.webhooks.subscribe('ada', { url, eventTypes: orders })
  await service.webhooks.emit('order.created', order)
  await service.clock.advance(9_999)
  t.equal(seen.length, 0)
  await service.clock.advance(2 * hour)
  t.equal(seen.length, 2)
})

t.test(
  'ten failures open the breaker: one probe at a time, at growing intervals; all deliveries resume when a probe succeeds [W4]',
  async (t) => {
    const service = await startService(t)
    let isUp = false
    const { url, seen } = await startWitness(t, service.now, () => (isUp ? 200 : 500))
    const { id } = await service.webhooks.subscribe('ada', { url, eventTypes: orders })
    for (let count = 0; count < 30; count++) await service.webhooks.emit('order.created', { ...order, id: String(count) })
    await service.clock.advance(1000)
    const before = seen.length
    t.ok(before >= 10 && before < 30, `${before} attempts, including those in progress when the breaker opened`)
    await service.clock.advance(4 * hour)
    const probes = seen.slice(before).map(({ at }) => at)
    const distances = probes.map((at, index) => (at - (probes[index - 1] ?? start)) / minute)
    t.ok(probes.length >= 5 && probes.length <= 9, `${probes.length} probes`)
    for (const [index, distance] of distances.entries())
      t.ok(distance >= Math.min(2 ** index, 60), `probe ${index + 1} after ${distance} min`)
    t.equal((await service.store.subscription(id))?.status, 'enabled')
    isUp = true
    await service.clock.advance(30 * hour)
    const history = await historyOf(service, id)
    t.strictSame([...new Set(history.map(({ status }) => status))], ['delivered'])
    t.match((await service.store.subscription(id))?.health, { failures: 0, breaker: 'closed', openings: 0 })
  }
)

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

t.test('only one of many concurrent deliveries becomes the probe when the pause of the breaker ends', async (t) => {
  const service = await startService(t)
  const { url, seen } = await startWitness(t, service.now, () => 500)
  const { id } = await service.webhooks.subscribe('ada', { url, eventTypes: orders })
  await skipVerification(service, id)
  await service.store.changeSubscription(id, (current) => ({
    ...current,
    health: { failures: 10, failingSince: start, breaker: 'open', openings: 1, quietUntil: start }
  }))
  await Promise.all(Array.from({ length: 5 }, async () => service.webhooks.emit('order.created', order)))
  await service.clock.advance(minute)
  t.equal(seen.length, 1)
})

t.test('a probe without a result is replaced', async (t) => {
  const service = await startService(t)
  let isUp = false
  const { url, seen } = await startWitness(t, service.now, () => (isUp ? 200 : 500))
  const { id } = await service.webhooks.subscribe('ada', { url, eventTypes: orders })
  for (let count = 0; count < 10; count++) await service.webhooks.emit('order.created', order)
  await service.clock.advance(1000)
  // The state that a process leaves when it is killed during a probe.
  await service.store.changeSubscription(id, (current) => ({
    ...current,
    health: { ...current.health, quietUntil: service.clock.now() + 90_000 }
  }))
  isUp = true
  const before = seen.length
  await service.clock.advance(89_000)
  t.equal(seen.length, before)
  await service.clock.advance(hour)
  t.equal((await historyOf(service, id)).filter(({ status }) => status === 'delivered').length, 10)
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
  t.strictSame(
    service.notices.filter((words) => Array.isArray(words) && words[0] === 'disabled'),
    [['disabled', id, 'failing']]
  )
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
  t.match(service.notices, [
    ['disabled', id, 'gone'],
    ['failed', String]
  ])
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
    const verifies = (key: string) => verifyWebhook(headers, text, { keys: [key], now: () => at }) !== undefined
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

t.test('with rotationGraceSeconds 0 the old key stops signing immediately, and ed25519 keys rotate like secrets', async (t) => {
  const service = await startService(t, { rotationGraceSeconds: 0 })
  const { url, seen } = await startWitness(t, service.now, () => 200)
  const { id } = await service.webhooks.subscribe('ada', { url, eventTypes: orders, signature: 'ed25519' })
  await service.webhooks.rotateKey('ada', id)
  await service.webhooks.emit('order.created', order)
  await service.clock.advance(1000)
  t.match(seen[0]?.headers['webhook-signature'], /^v1a,\S+$/)
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

t.test('concurrencyPerOwner limits the attempts for the subscriptions of an owner, and other owners do not wait', async (t) => {
  const service = await startService(t, { concurrencyPerOwner: 3 })
  const gate = Promise.withResolvers<void>()
  let atOnce = 0
  let most = 0
  const slow = await startWitness(t, service.now, async () => {
    most = Math.max(most, ++atOnce)
    await gate.promise
    atOnce -= 1
    return 200
  })
  const quick = await startWitness(t, service.now, (_seen, count) => {
    if (count === 20) gate.resolve()
    return 200
  })
  for (let count = 0; count < 2; count++) await service.webhooks.subscribe('ada', { url: slow.url, eventTypes: orders })
  await service.webhooks.subscribe('max', { url: quick.url, eventTypes: orders })
  for (let count = 0; count < 20; count++) await service.webhooks.emit('order.created', order)
  await service.clock.advance(1000)
  t.equal(most, 3)
  t.equal(slow.seen.length, 40)
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
  let addresses = ['10.0.0.1']
  const service = await startService(t, { resolve: async () => addresses })
  const { id } = await service.webhooks.subscribe('ada', { url: 'https://hooks.example.com/', eventTypes: orders })
  await skipVerification(service, id)
  await service.webhooks.emit('order.created', order)
  await service.clock.advance(1000)
  addresses = []
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
  t.equal((await service.store.subscription(id))?.health.failures, 0)
})

t.test('old deliveries are removed every hour, and a failed removal is logged', async (t) => {
  const timers = t.capture(globalThis, 'setInterval', (run: () => void, milliseconds: number) => setTimeout(run, milliseconds))
  const store = memoryWebhookStore()
  const lines: string[] = []
  const requested: number[] = []
  const app = Fastify({ logger: { level: 'error', stream: { write: (line) => void lines.push(line) } } })
  t.teardown(() => app.close())
  const failing = {
    ...store,
    async removeEndedBefore(time: number) {
      requested.push(time)
      throw new Error('The store is down.')
    }
  }
  await app.register(webhooks, { events, mayReceive: 'everyone', store: failing, queue: memoryWorkQueue(), now: () => start })
  const [clean, milliseconds] = timers.args()[0] as [() => void, number]
  t.equal(milliseconds, hour)
  clean()
  await setImmediate()
  t.strictSame(requested, [start - 30 * day])
  t.match(lines.join(), /The store is down.*old deliveries could not be removed/)
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
