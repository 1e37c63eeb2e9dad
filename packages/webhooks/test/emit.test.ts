import { memoryWebhookStore, type Subscription, type WebhookStore } from '@concordat/webhooks'
import { memoryWorkQueue } from '@concordat/work-queue'
import { testClock } from '@concordat/work-queue/testing'
import t from 'tap'
import { events, historyOf, minute, start, startService, startWitness } from './service.ts'

const alive = setInterval(() => {}, 1000)
t.teardown(() => clearInterval(alive))
const order = { id: '7', total: { amount: '12.50', currency: 'EUR' } }

function questionAbout(data: object, ...owners: string[]) {
  return [owners, { type: 'order.created', tenant: undefined, data, transaction: undefined }]
}

t.test('an event goes only to subscriptions to its type that may see it', async (t) => {
  const requested: unknown[] = []
  const service = await startService(t, {
    async mayReceive(subscriptions, event) {
      requested.push([subscriptions.map(({ owner }) => owner), event])
      return subscriptions.filter(({ owner }) => owner === 'ada' || owner === 'ops')
    }
  })
  const { url, seen } = await startWitness(t, service.now, () => 200)
  for (const [owner, type] of [
    ['ada', 'order.created'],
    ['ops', 'order.created'],
    ['max', 'order.created'],
    ['ada', 'product.updated']
  ] as const) {
    await service.webhooks.subscribe(owner, { url, eventTypes: [type] })
  }
  t.equal((await service.webhooks.emit('order.created', order)).deliveries, 2)
  await service.clock.advance(1000)
  t.equal(seen.length, 2)
  // Once for all when the event is emitted, and again before each attempt, then in the form of the version.
  const sent = { id: '7', total: '12.50' }
  t.strictSame(requested, [questionAbout(order, 'ada', 'ops', 'max'), questionAbout(sent, 'ada'), questionAbout(sent, 'ops')])
})

t.test('an event goes to none but the given subscriptions, and a result of mayReceive that is not an array stops it', async (t) => {
  const others: Subscription[] = []
  let result: unknown = others
  const service = await startService(t, { mayReceive: () => result as Subscription[], worker: false })
  t.equal((await service.webhooks.emit('order.created', order)).deliveries, 0)
  const input = { url: 'https://hooks.example.com', eventTypes: ['order.created'] }
  others.push({ ...(await service.webhooks.subscribe('ada', input)), owner: 'max' })
  t.equal((await service.webhooks.emit('order.created', order)).deliveries, 0, 'a subscription that was not among the given ones')
  result = true
  await t.rejects(service.webhooks.emit('order.created', order), /options\.mayReceive must return an array/)
})

t.test('an event with audiences goes to their subscriptions, and only these are considered', async (t) => {
  const considered: string[] = []
  const service = await startService(t, {
    events: {
      'order.created': { ...events['order.created'], audiences: ({ id }: { id: string }) => ['staff', `customer ${id}`] }
    } as typeof events,
    mayReceive: (subscriptions) => (considered.push(...subscriptions.map(({ owner }) => owner)), subscriptions)
  })
  const url = 'https://hooks.example.com'
  for (const owner of ['ops 1', 'ops 2', 'customer 7', 'customer 8', 'customer 9'])
    await service.webhooks.subscribe(owner, { url, eventTypes: ['order.created'] }, 1, owner.replace(/^ops.*/, 'staff'))
  t.equal((await service.webhooks.emit('order.created', order)).deliveries, 3)
  t.strictSame(considered.slice(0, 3), ['ops 1', 'ops 2', 'customer 7'])
})

t.test('each subscription gets the form of its API version, with the same bytes at each attempt', async (t) => {
  const service = await startService(t)
  const { url, seen } = await startWitness(t, service.now, (_seen, count) => (count <= 2 ? 500 : 200))
  await service.webhooks.subscribe('ada', { url, eventTypes: ['order.created'] }, 1)
  await service.webhooks.subscribe('ada', { url, eventTypes: ['order.created'] }, 2)
  const data = structuredClone(order)
  await service.webhooks.emit('order.created', data)
  data.total.amount = 'changed'
  await service.clock.advance(minute)
  t.equal(seen.length, 4)
  const totals = seen.map(({ body }) => (body.data as { total: unknown }).total)
  t.equal(totals.filter((total) => total === '12.50').length, 2)
  t.strictSame(
    totals.filter((total) => total !== '12.50'),
    [order.total, order.total]
  )
  t.equal(new Set(seen.map(({ text }) => text)).size, 2)
})

t.test('an id that already exists emits nothing, also in concurrent calls, and is the webhook-id', async (t) => {
  const service = await startService(t)
  const { url, seen } = await startWitness(t, service.now, () => 200)
  await service.webhooks.subscribe('ada', { url, eventTypes: ['order.created'] })
  const emitted = await Promise.all([1, 2, 3].map(async () => service.webhooks.emit('order.created', order, { id: 'order-7_created' })))
  t.strictSame(emitted.map(({ id, deliveries }) => [id, deliveries]).toSorted(), [
    ['order-7_created', 0],
    ['order-7_created', 0],
    ['order-7_created', 1]
  ])
  await service.clock.advance(1000)
  t.strictSame(
    seen.map(({ headers }) => headers['webhook-id']),
    ['order-7_created']
  )
})

t.test('emit rejects an unknown type, an invalid id and data that cannot be JSON, and sends nothing', async (t) => {
  const service = await startService(t)
  const { url, seen } = await startWitness(t, service.now, () => 200)
  await service.webhooks.subscribe('ada', { url, eventTypes: ['order.created', 'product.updated'] })
  await t.rejects(service.webhooks.emit('order.shipped', order), /the event type "order.shipped" is unknown\. Add it to options\.events\./)
  await t.rejects(service.webhooks.emit('constructor', order), TypeError)
  for (const id of ['', 'a.b', 'a b', 'a'.repeat(65)])
    await t.rejects(service.webhooks.emit('order.created', order, { id }), /the id of an event/)
  await t.rejects(service.webhooks.emit('product.updated', { count: 1n }), TypeError)
  await service.clock.advance(minute)
  t.equal(seen.length, 0)
})

t.test('an event without subscriptions makes no deliveries', async (t) => {
  const service = await startService(t)
  t.match(await service.webhooks.emit('order.created', order), { id: /^[\da-f-]{36}$/, deliveries: 0 })
})

t.test('deliveries are listed in the order of emission, also within one millisecond and when the clock goes back', async (t) => {
  const service = await startService(t)
  const { id } = await service.webhooks.subscribe('ada', { url: 'https://example.org/', eventTypes: ['order.created'] })
  const emitted: string[] = []
  for (let count = 0; count < 300; count += 1) emitted.push((await service.webhooks.emit('order.created', order)).id)
  const earlier = Date.now() - 60_000
  t.intercept(Date, 'now', { value: () => earlier })
  emitted.push((await service.webhooks.emit('order.created', order)).id)
  const deliveries = await service.webhooks.deliveries('ada', id, { limit: 400, oldestFirst: true })
  t.strictSame(
    deliveries.map(({ messageId }) => messageId),
    emitted
  )
  t.equal(new Set(deliveries.map((delivery) => delivery.id)).size, 301)
})

t.test('emit writes everything through the caller’s transaction and wakes the worker after the commit', async (t) => {
  const written: [string, unknown][] = []
  const kicked: string[] = []
  const committed: (() => void)[] = []
  const transaction = { query: async () => ({ rows: [] }), afterCommit: (received: () => void) => void committed.push(received) }
  let current: typeof transaction | undefined = transaction
  const clock = testClock(start)
  const memory = memoryWorkQueue({ clock })
  const queue = {
    ...memory,
    capabilities: { durable: true, transactional: true, distributed: true },
    kick: (name: string) => void kicked.push(name),
    async enqueue(name: string, items: Parameters<typeof memory.enqueue>[1], given?: unknown) {
      written.push(['enqueue', given])
      return memory.enqueue(name, items)
    }
  }
  const kept = memoryWebhookStore()
  const store: WebhookStore = {
    ...kept,
    async transaction(work) {
      written.push(['transaction', undefined])
      return kept.transaction(work)
    },
    async addSubscription(subscription, maxOfOwner, given) {
      written.push(['addSubscription', given])
      return kept.addSubscription(subscription, maxOfOwner)
    },
    async countChange(change, given) {
      written.push(['countChange', given])
      return kept.countChange(change)
    },
    async changeSubscription(id, change, given) {
      written.push(['changeSubscription', given])
      return kept.changeSubscription(id, change)
    },
    async addMessage(message, deliveries, given) {
      written.push(['addMessage', given])
      return kept.addMessage(message, deliveries)
    }
  }
  const transactions = { currentTransaction: () => current, transactionOf: () => undefined }
  const { webhooks } = await startService(t, { store, queue, worker: false }, { transactions })
  const { id } = await webhooks.subscribe('ada', { url: 'https://hooks.example.com', eventTypes: ['order.created'] })
  await webhooks.rotateKey('ada', id)
  await webhooks.emit('order.created', order)
  t.strictSame(written.splice(0), [
    ['countChange', transaction],
    ['addSubscription', transaction],
    ['enqueue', transaction],
    ['changeSubscription', transaction],
    ['addMessage', transaction],
    ['enqueue', transaction]
  ])
  t.strictSame(kicked, [])
  for (const received of committed) received()
  t.ok(kicked.includes('webhook-deliveries'))
  current = undefined
  await webhooks.emit('order.created', order)
  t.strictSame(written.splice(0), [
    ['transaction', undefined],
    ['addMessage', undefined],
    ['enqueue', undefined]
  ])
  await webhooks.emit('order.created', order, { transaction })
  t.strictSame(written.splice(0), [
    ['addMessage', transaction],
    ['enqueue', transaction]
  ])
  t.equal((await historyOf({ store: kept }, id)).length, 3)
})
