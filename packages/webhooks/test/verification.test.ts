import t, { type Test } from 'tap'
import { day, historyOf, hour, minute, type Seen, skipVerification, start, startService, startWitness } from './service.ts'
import { startReceiver } from './tls-receiver.ts'
import { verifyAt } from './verify-at.ts'

// The timers of the attempts do not keep the process alive.
const alive = setInterval(() => {}, 1000)
t.teardown(() => clearInterval(alive))
const eventTypes = ['order.created']
const order = { id: '7', total: { amount: '12.50', currency: 'EUR' } }
const pings = (seen: readonly Seen[]) => seen.filter(({ body }) => body.type === 'webhook.ping')

/** Starts a receiver that records every request, including verifications. */
async function startStranger(t: Test, now: () => number, status: (count: number) => number) {
  const seen: Seen[] = []
  const url = await startReceiver(t, async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString()
    seen.push({ at: now(), headers: request.headers, text, body: JSON.parse(text) })
    response.writeHead(status(seen.length)).end()
  })
  return { url, seen }
}

t.test('a new URL gets one signed ping, and its events once it has responded with a 2xx [W1] [W3]', async (t) => {
  const service = await startService(t)
  let status = 500
  const { url, seen } = await startStranger(t, service.now, () => status)
  const { id, keys } = await service.webhooks.subscribe('ada', { url, eventTypes })
  for (let count = 0; count < 5; count++) await service.webhooks.emit('order.created', { ...order, id: String(count) })
  await service.clock.advance(4000)
  t.equal(seen.length, 1)
  t.match(seen[0]?.body, { type: 'webhook.ping', data: { subscriptionId: id } })
  verifyAt(start, seen[0]!.headers, seen[0]!.text, { keys: [keys[0]!.key] })
  t.equal((await service.store.subscription(id))?.failingSince, undefined, 'the entity tag stays the same')
  await service.clock.advance(minute)
  t.equal(seen.length, 3, 'the ping is retried on the schedule')
  status = 204
  await service.clock.advance(3 * minute)
  t.equal(pings(seen).length, 4)
  t.strictSame(
    seen
      .slice(4)
      .map(({ body }) => (body.data as typeof order).id)
      .toSorted(),
    ['0', '1', '2', '3', '4']
  )
  t.match(
    await historyOf(service, id),
    Array.from({ length: 5 }, () => ({ eventType: 'order.created', status: 'delivered', attempts: 1 }))
  )
})

t.test('an ordered subscription keeps the order of the events that waited for the verification', async (t) => {
  const service = await startService(t)
  const { url, seen } = await startStranger(t, service.now, (count) => (count === 1 ? 500 : 204))
  await service.webhooks.subscribe('ada', { url, eventTypes, ordered: true })
  for (let count = 0; count < 5; count++) await service.webhooks.emit('order.created', { ...order, id: String(count) })
  await service.clock.advance(minute)
  t.strictSame(
    seen.slice(2).map(({ body }) => (body.data as typeof order).id),
    ['0', '1', '2', '3', '4']
  )
})

t.test('a URL that is never verified disables its subscription after the schedule, and a 410 immediately', async (t) => {
  const service = await startService(t)
  const stranger = await startStranger(t, service.now, () => 404)
  const gone = await startStranger(t, service.now, () => 410)
  const { id } = await service.webhooks.subscribe('ada', { url: stranger.url, eventTypes })
  const other = await service.webhooks.subscribe('ada', { url: gone.url, eventTypes })
  await service.webhooks.emit('order.created', order)
  await service.clock.advance(4 * day)
  t.equal(stranger.seen.length, 12)
  t.equal(gone.seen.length, 1)
  t.match(await service.store.subscription(id), { status: 'disabled', disabledReason: 'unverified' })
  t.match(await service.store.subscription(other.id), { status: 'disabled', disabledReason: 'gone' })
  t.match(await historyOf(service, id), [{ status: 'cancelled', attempts: 0 }])
})

t.test('requested pings do not use up the verification, and count as changes of the owner', async (t) => {
  const service = await startService(t)
  let status = 503
  const { url, seen } = await startStranger(t, service.now, () => status)
  const { id } = await service.webhooks.subscribe('ada', { url, eventTypes })
  await service.clock.advance(minute)
  const before = seen.length
  const etag = (await service.webhooks.stateOf('ada', id))?.version
  for (let count = 1; count < 20; count++) {
    await service.webhooks.ping('ada', id)
    await service.clock.advance(0)
  }
  t.equal(seen.length, before + 19, 'each retries the verification now')
  t.equal((await service.webhooks.stateOf('ada', id))?.version, etag)
  await t.rejects(service.webhooks.ping('ada', id), { code: 'WEBHOOK_CHANGE_LIMIT' })
  t.match(await service.store.subscription(id), { status: 'enabled' })
  await service.clock.advance(hour)
  t.equal(seen.length, 6 + 19, 'the schedule has gone on')
  status = 204
  await service.clock.advance(4 * day)
  t.match(await service.store.subscription(id), { status: 'enabled', verificationJobId: undefined })
})

t.test('a ping that is requested retries the verification now', async (t) => {
  const service = await startService(t)
  let status = 500
  const { url, seen } = await startStranger(t, service.now, () => status)
  const { id } = await service.webhooks.subscribe('ada', { url, eventTypes })
  await service.clock.advance(2 * minute)
  const before = seen.length
  status = 204
  await service.webhooks.ping('ada', id)
  await service.clock.advance(0)
  t.equal(seen.length, before + 2, 'the verification, then the ping')
  t.match(await historyOf(service, id), [{ eventType: 'webhook.ping', status: 'delivered' }])
})

t.test('a changed URL and an enabled subscription are verified again, and their failures still count', async (t) => {
  const service = await startService(t)
  const first = await startStranger(t, service.now, (count) => (count === 1 ? 204 : 500))
  const second = await startStranger(t, service.now, (count) => (count === 1 ? 500 : 204))
  const { id } = await service.webhooks.subscribe('ada', { url: first.url, eventTypes })
  for (let count = 0; count < 12; count++) await service.webhooks.emit('order.created', order)
  await service.clock.advance(1000)
  const { failingSince } = (await service.store.subscription(id))!
  t.type(failingSince, 'number')
  await service.webhooks.change('ada', id, { url: second.url })
  t.match(await service.webhooks.subscription('ada', id), { failingSince })
  await service.clock.advance(1000)
  t.equal(second.seen.length, 1)
  const before = first.seen.length
  await service.clock.advance(minute)
  t.equal(first.seen.length, before, 'the old URL gets nothing more')
  t.equal(pings(second.seen).length, 2)
  t.equal(second.seen.length, 14)
  t.equal((await service.store.subscription(id))?.failingSince, undefined)
  await service.webhooks.change('ada', id, { status: 'disabled' })
  await service.webhooks.change('ada', id, { description: 'mine' })
  await service.webhooks.change('ada', id, { status: 'enabled', url: second.url })
  await service.clock.advance(1000)
  t.equal(pings(second.seen).length, 3)
})

t.test('the result of an attempt at a URL that was replaced meanwhile does not count', async (t) => {
  const service = await startService(t)
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<number>()
  const slow = await startWitness(t, service.now, () => (begun.resolve(), gate.promise))
  const other = await startStranger(t, service.now, () => 500)
  const { id } = await service.webhooks.subscribe('ada', { url: slow.url, eventTypes })
  for (const status of [410, 204]) {
    await service.webhooks.emit('order.created', order)
    await begun.promise
    await service.webhooks.change('ada', id, { url: `${other.url}?${status}` })
    gate.resolve(status)
    await service.clock.advance(1000)
    const { status: shown, verificationJobId } = (await service.store.subscription(id))!
    t.equal(shown, 'enabled')
    t.type(verificationJobId, 'string', 'the new URL is not verified')
  }
})

t.test('an owner can make twenty changes that send a ping in an hour, of all kinds and subscriptions together', async (t) => {
  const service = await startService(t)
  const { url, seen } = await startStranger(t, service.now, () => 204)
  const { webhooks } = service
  const { id } = await webhooks.subscribe('ada', { url, eventTypes })
  await service.clock.advance(minute)
  for (let count = 0; count < 16; count++) {
    const { id: removed } = await webhooks.subscribe('ada', { url: `${url}?${count}`, eventTypes })
    await service.clock.advance(0)
    await webhooks.unsubscribe('ada', removed)
  }
  await webhooks.change('ada', id, { status: 'disabled' })
  await webhooks.change('ada', id, { status: 'enabled' })
  await webhooks.change('ada', id, { url: `${url}?new` })
  await webhooks.ping('ada', id)
  await service.clock.advance(0)
  const sent = seen.length
  const refused = { code: 'WEBHOOK_CHANGE_LIMIT', statusCode: 429, headers: { 'retry-after': '3540' } }
  await t.rejects(webhooks.subscribe('ada', { url, eventTypes }), refused)
  await t.rejects(webhooks.change('ada', id, { url }), refused)
  await t.rejects(webhooks.ping('ada', id), refused)
  t.match(await webhooks.change('ada', id, { status: 'disabled', description: 'Not limited.' }), { url: `${url}?new` })
  await t.rejects(webhooks.ping('ada', id), { code: 'WEBHOOK_SUBSCRIPTION_DISABLED' })
  await t.rejects(webhooks.change('ada', id, { status: 'enabled' }), refused)
  t.match(await webhooks.subscription('ada', id), { status: 'disabled', url: `${url}?new` })
  t.equal((await webhooks.subscriptions('ada', { limit: 10 })).length, 1)
  await service.clock.advance(0)
  t.equal(seen.length, sent, 'a change that is refused sends nothing')
  await webhooks.subscribe('max', { url, eventTypes })
  await service.clock.advance(59 * minute)
  t.match(await webhooks.change('ada', id, { status: 'enabled' }), { status: 'enabled' }, 'the oldest change has left the hour')
  await t.rejects(webhooks.ping('ada', id), { code: 'WEBHOOK_CHANGE_LIMIT', headers: { 'retry-after': '60' } })
})

t.test('the first success after an outage sends everything that waits', async (t) => {
  const service = await startService(t)
  let isUp = false
  const { url, seen } = await startWitness(t, service.now, () => (isUp ? 204 : 503))
  const { id } = await service.webhooks.subscribe('ada', { url, eventTypes })
  for (let count = 0; count < 205; count++) {
    await service.webhooks.emit('order.created', order)
    await service.clock.advance(200)
  }
  isUp = true
  const upAt = service.now()
  await service.clock.advance(hour)
  const accepted = seen.filter(({ at }) => at > upAt)
  t.equal(accepted.length, 205)
  const [first] = accepted
  t.strictSame([...new Set(accepted.map(({ at }) => at - first!.at))], [0])
  t.match(
    (await historyOf(service, id)).filter(({ status }) => status !== 'delivered'),
    []
  )
})

t.test('a recovery also sends pending deliveries of its time range now, after a probe', async (t) => {
  t.intercept(Math, 'random', { value: () => 0, configurable: true, writable: true })
  const service = await startService(t)
  let isUp = false
  const { url, seen } = await startWitness(t, service.now, () => (isUp ? 204 : 500))
  const { id } = await service.webhooks.subscribe('ada', { url, eventTypes })
  for (let count = 0; count < 250; count++) await service.webhooks.emit('order.created', order)
  await service.clock.advance(30 * minute)
  const before = seen.length
  await service.webhooks.recover('ada', id, start)
  await service.clock.advance(0)
  t.equal(seen.length, before + 1)
  isUp = true
  await service.clock.advance(0)
  t.equal(seen.length, before + 1)
  await service.webhooks.recover('ada', id, start)
  await service.clock.advance(0)
  t.equal(seen.length, before + 251)
})

t.test('a success does not shorten the delay before the first attempt', async (t) => {
  t.intercept(Math, 'random', { value: () => 0, configurable: true, writable: true })
  const service = await startService(t, { scheduleSeconds: [10, 60] })
  const { url, seen } = await startWitness(t, service.now, (_seen, count) => (count === 1 ? 500 : 204))
  await service.webhooks.subscribe('ada', { url, eventTypes })
  await service.webhooks.emit('order.created', order)
  await service.clock.advance(70_000)
  await service.webhooks.emit('order.created', order)
  await service.clock.advance(9000)
  t.equal(seen.length, 2)
  await service.clock.advance(1000)
  t.equal(seen.length, 3)
})

t.test('after a timeout, one attempt is made at a time', async (t) => {
  const service = await startService(t, { attemptTimeoutSeconds: 0.3, concurrencyPerOwner: 4 })
  let [now, most, total] = [0, 0, 0]
  const url = await startReceiver(t, (request) => {
    total += 1
    most = Math.max(most, (now += 1))
    request.socket.on('close', () => (now -= 1))
  })
  const { id } = await service.webhooks.subscribe('ada', { url, eventTypes })
  await skipVerification(service, id)
  for (let count = 0; count < 20; count++) await service.webhooks.emit('order.created', order)
  await service.clock.advance(0)
  t.ok(most <= 3 && total >= 3, 'the first attempts, before a timeout')
  const before = total
  most = 0
  await service.clock.advance(minute)
  t.ok(total > before)
  t.equal(most, 1)
})

t.test('at most a quarter of the attempts of a process are probes', async (t) => {
  const service = await startService(t, { attemptTimeoutSeconds: 0.3, concurrency: 4 })
  let [now, most, total] = [0, 0, 0]
  const url = await startReceiver(t, (request) => {
    total += 1
    most = Math.max(most, (now += 1))
    request.socket.on('close', () => (now -= 1))
  })
  for (const owner of ['ada', 'max', 'eve']) {
    const { id } = await service.webhooks.subscribe(owner, { url, eventTypes })
    await skipVerification(service, id)
  }
  await service.webhooks.emit('order.created', order)
  await service.clock.advance(0)
  t.ok(total >= 3, 'the first attempts, before a timeout')
  most = 0
  await service.clock.advance(minute)
  t.equal(most, 1)
  t.ok(total > 15, `${total} requests, so that no receiver is left out`)
})
