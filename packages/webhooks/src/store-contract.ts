import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import { v4 as randomId, v7 as uuid } from 'uuid'
import { type Delivery, reopenedDelivery, type WebhookMessage } from './delivery.ts'
import type { WebhookStore } from './store.ts'
import { disabledSubscription, newSubscription, rotatedSubscription, type Subscription } from './subscription.ts'

/** Runs one test, as the runner of the caller does: `(title, run) => test(title, run)`. */
export type RunTest = (title: string, run: () => Promise<void>) => unknown

const now = Date.parse('2026-01-02T03:04:05.678Z')
const hour = 3_600_000
const all = { limit: 1000 }

/** Tests whether a store keeps the promises of {@link WebhookStore}. `create` is asked in each test and may answer the same store each time. */
export function webhookStoreContract(test: RunTest, create: () => WebhookStore | Promise<WebhookStore>): void {
  /** A store with one subscription and, by the wishes, deliveries to it. */
  async function begin(...wishes: Partial<Delivery>[]) {
    const store = await create()
    const subscription = subscriptionOf()
    await store.addSubscription(subscription)
    const deliveries: Delivery[] = []
    for (const wish of wishes) {
      const [message, delivery] = messageTo(subscription, wish)
      strictEqual(await store.addMessage(message, [delivery]), true)
      deliveries.push(delivery)
    }
    return { store, subscription, deliveries }
  }

  test('a subscription is read as it was kept, and an unknown one is not there', async () => {
    const { store, subscription } = await begin()
    deepStrictEqual(present(await store.subscription(subscription.id)), present(subscription))
    const full = rotatedSubscription(
      { ...subscription, id: uuid(), description: "Ñandú's\n🐦", signature: 'ed25519', ordered: true },
      60,
      now
    )
    await store.addSubscription(full)
    deepStrictEqual(present(await store.subscription(full.id)), present(full))
    strictEqual(await store.subscription(uuid()), undefined)
  })

  test('the subscriptions of an owner are listed, the newest first, in parts', async () => {
    const { store, subscription } = await begin()
    const others = [1, 2, 3].map(() => ({ ...subscription, id: uuid() }))
    for (const other of others) await store.addSubscription(other)
    const ids = [subscription, ...others].map(({ id }) => id).toReversed()
    const page = async (limit: number, after?: string) =>
      (await store.subscriptionsOf(subscription.owner, { limit, after })).map(({ id }) => id)
    deepStrictEqual(await page(1000), ids)
    deepStrictEqual(await page(2), ids.slice(0, 2))
    deepStrictEqual(await page(3, ids[1]), ids.slice(2))
    deepStrictEqual(await store.subscriptionsOf(randomId(), all), [])
  })

  test('subscribers of a type are those that are enabled and want it', async () => {
    const store = await create()
    const type = `type_${randomId().replaceAll('-', '')}`
    const wanted = { ...subscriptionOf(), eventTypes: ['a', type] }
    const others = [
      subscriptionOf(),
      { ...disabledSubscription(wanted, 'gone', now), id: uuid() },
      { ...wanted, id: uuid(), eventTypes: [`${type}.b`] }
    ]
    for (const subscription of [wanted, ...others]) await store.addSubscription(subscription)
    deepStrictEqual(
      (await store.subscribersOf(type)).map(({ id }) => id),
      [wanted.id]
    )
  })

  test('a subscription is changed by one after the other, and by none when the change throws', async () => {
    const { store, subscription } = await begin()
    const { id } = subscription
    await Promise.all(
      Array.from({ length: 20 }, async () => store.changeSubscription(id, (current) => ({ ...current, revision: current.revision + 1 })))
    )
    strictEqual((await store.subscription(id))?.revision, 21)
    const disabled = await store.changeSubscription(id, (current) => disabledSubscription(current, 'failing', now + 1))
    deepStrictEqual(present(await store.subscription(id)), present(disabled))
    strictEqual(disabled?.disabledReason, 'failing')
    deepStrictEqual(present(await store.changeSubscription(id, (current) => current)), present(disabled))
    await rejects(store.changeSubscription(id, refuse), /No\./)
    deepStrictEqual(present(await store.subscription(id)), present(disabled))
    strictEqual(await store.changeSubscription(uuid(), refuse), undefined)
  })

  test('a subscription is removed with its deliveries and attempts', async () => {
    const { store, subscription, deliveries } = await begin({})
    const [delivery] = deliveries as [Delivery]
    await store.saveDelivery({ ...delivery, attempts: 1 }, attemptOf(delivery, 1))
    strictEqual(await store.removeSubscription(subscription.id), true)
    strictEqual(await store.subscription(subscription.id), undefined)
    strictEqual(await store.delivery(delivery.id), undefined)
    strictEqual(await store.deliveryToSend(delivery.id), undefined)
    deepStrictEqual(await store.attemptsOf(delivery.id, all), [])
    strictEqual(await store.removeSubscription(subscription.id), false)
  })

  test('a message is kept once, also of many that come at once', async () => {
    const { store, subscription } = await begin()
    const [message] = messageTo(subscription)
    const added = await Promise.all(
      Array.from({ length: 10 }, async () => store.addMessage(message, [{ ...messageTo(subscription)[1], messageId: message.id }]))
    )
    strictEqual(added.filter(Boolean).length, 1)
    strictEqual((await store.deliveriesOf(subscription.id, all)).length, 1)
  })

  test('a delivery to a subscription that was removed meanwhile is not kept, and the others are', async () => {
    const { store, subscription } = await begin()
    const [message, delivery] = messageTo(subscription)
    const [, lost] = messageTo(subscriptionOf(), { messageId: message.id })
    strictEqual(await store.addMessage(message, [lost, delivery]), true)
    strictEqual(await store.delivery(lost.id), undefined)
    deepStrictEqual(present(await store.delivery(delivery.id)), present(delivery))
  })

  test('what is to be sent comes with its subscription and the bytes of its version', async () => {
    const { store, subscription } = await begin()
    const [message, delivery] = messageTo(subscription)
    const body = '{"text":"Ñ \\u0000 \\ud83d\\udc26 🐦",  "n":1.10}'
    await store.addMessage({ ...message, bodies: { 1: '{}', [subscription.version]: body } }, [delivery])
    const found = await store.deliveryToSend(delivery.id)
    deepStrictEqual([found?.body, present(found?.delivery), present(found?.subscription)], [body, present(delivery), present(subscription)])
    strictEqual(await store.deliveryToSend(uuid()), undefined)
  })

  test('a delivery is replaced with the attempt that made it so, and not brought back when it was removed', async () => {
    const { store, deliveries } = await begin({})
    const [delivery] = deliveries as [Delivery]
    const { nextAttemptAt: _, ...ended } = { ...delivery, attempts: 2, status: 'delivered' as const, endedAt: now + 1 }
    const attempts = [attemptOf(delivery, 1), { ...attemptOf(delivery, 2), statusCode: undefined, failure: 'TIMEOUT' as const }]
    await store.saveDelivery({ ...delivery, attempts: 1 }, attempts[0])
    await store.saveDelivery(ended, attempts[1])
    deepStrictEqual(present(await store.delivery(delivery.id)), present(ended))
    deepStrictEqual((await store.attemptsOf(delivery.id, all)).map(present), attempts.toReversed().map(present))
    deepStrictEqual((await store.attemptsOf(delivery.id, { limit: 1, after: attempts[1]?.id })).map(present), [present(attempts[0])])
    await store.saveDelivery(ended, undefined)
    strictEqual((await store.attemptsOf(delivery.id, all)).length, 2)
    const gone = { ...ended, id: uuid() }
    await store.saveDelivery(gone, attemptOf(gone, 1))
    strictEqual(await store.delivery(gone.id), undefined)
  })

  test('deliveries are listed, the newest first, in parts and by status', async () => {
    const { store, subscription, deliveries } = await begin({}, { status: 'failed', endedAt: now }, {}, { status: 'failed', endedAt: now })
    const ids = deliveries.map(({ id }) => id).toReversed()
    const list = async (wish: Parameters<WebhookStore['deliveriesOf']>[1]) =>
      (await store.deliveriesOf(subscription.id, wish)).map(({ id }) => id)
    deepStrictEqual(await list(all), ids)
    deepStrictEqual(await list({ limit: 2, after: ids[0] }), ids.slice(1, 3))
    deepStrictEqual(await list({ limit: 5, status: 'failed' }), [ids[0], ids[2]])
    deepStrictEqual(await list({ limit: 5, status: 'failed', after: ids[0] }), [ids[2]])
    deepStrictEqual(await list({ limit: 5, status: 'cancelled' }), [])
  })

  test('a delivery that has ended is reopened once, one that is pending or of another subscription is not', async () => {
    const { store, subscription, deliveries } = await begin({ status: 'delivered', attempts: 3, endedAt: now }, {})
    const [ended, pending] = deliveries as [Delivery, Delivery]
    const reopen = async (subscriptionId: string, id: string) =>
      store.reopenDeliveries({ subscriptionId, id }, (delivery) => reopenedDelivery(delivery, now + 5))
    deepStrictEqual(await reopen(subscription.id, pending.id), [])
    deepStrictEqual(await reopen(uuid(), ended.id), [])
    const reopened = (await Promise.all([1, 2, 3].map(async () => reopen(subscription.id, ended.id)))).flat()
    deepStrictEqual(reopened.map(present), [present(reopenedDelivery(ended, now + 5))])
    deepStrictEqual(present(await store.delivery(ended.id)), present(reopened[0]))
  })

  test('of a time range, what was not delivered and ended before is reopened, the oldest first, so many at a time', async () => {
    const failed = (hours: number) => ({ status: 'failed' as const, createdAt: now + hours * hour, endedAt: now + hours * hour })
    const { store, subscription, deliveries } = await begin(
      failed(-1),
      failed(0),
      { ...failed(1), status: 'cancelled' },
      { ...failed(2), status: 'delivered' },
      { createdAt: now + hour },
      failed(3),
      { ...failed(3), endedAt: now + 9 * hour },
      failed(4)
    )
    const range = { subscriptionId: subscription.id, since: now, until: now + 4 * hour, endedBefore: now + 9 * hour, limit: 2 }
    const reopen = async () =>
      (await store.reopenDeliveries(range, (delivery) => reopenedDelivery(delivery, now + 10 * hour))).map(({ id }) =>
        deliveries.findIndex((one) => one.id === id)
      )
    deepStrictEqual(await reopen(), [1, 2])
    deepStrictEqual(await reopen(), [5])
    deepStrictEqual(await reopen(), [])
  })

  test('what ended before a time is removed with its attempts, so many at a time, and its message when nothing else has it', async () => {
    const store = await create()
    // Older than what other tests leave in the same store.
    const long = now - 1000 * 24 * hour
    const [one, two] = [subscriptionOf(), subscriptionOf()]
    for (const subscription of [one, two]) await store.addSubscription(subscription)
    const [message, first] = messageTo(one, { status: 'failed', endedAt: long })
    const second = { ...messageTo(two, { status: 'failed', endedAt: long + 10 })[1], messageId: message.id }
    await store.addMessage(message, [first, second])
    await store.saveDelivery(first, attemptOf(first, 1))
    strictEqual(await store.removeEndedBefore(long, 10), 0)
    strictEqual(await store.removeEndedBefore(long + 1, 10), 1)
    deepStrictEqual(await store.attemptsOf(first.id, all), [])
    strictEqual((await store.deliveryToSend(second.id))?.delivery.id, second.id)
    strictEqual(await store.addMessage(message, [messageTo(one)[1]]), false)
    strictEqual(await store.removeEndedBefore(long + 11, 10), 1)
    strictEqual(await store.addMessage(message, [{ ...messageTo(one)[1], messageId: message.id }]), true)
  })

  test('in a transaction, all is kept or nothing', async () => {
    const { store, subscription } = await begin()
    const [message, delivery] = messageTo(subscription)
    const other = subscriptionOf()
    let isTransactional = false
    const work = store.transaction(async (transaction) => {
      isTransactional = transaction !== undefined
      await store.addSubscription(other, transaction)
      await store.addMessage(message, [delivery], transaction)
      await store.changeSubscription(subscription.id, (current) => ({ ...current, revision: 9 }), transaction)
      ok((await store.subscribersOf(subscription.eventTypes[0] as string, transaction)).some(({ id }) => id === other.id))
      if (isTransactional) throw new Error('Back.')
    })
    if (isTransactional) await rejects(work, /Back\./)
    else await work
    strictEqual((await store.subscription(other.id)) === undefined, isTransactional)
    strictEqual((await store.delivery(delivery.id)) === undefined, isTransactional)
    strictEqual((await store.subscription(subscription.id))?.revision, isTransactional ? 1 : 9)
  })
}

function subscriptionOf(): Subscription {
  const wish = { url: 'https://hooks.example.com/a?b=c', eventTypes: ['order.created', 'order.updated'] }
  return newSubscription(wish, { id: uuid(), owner: `owner ${randomId()}`, version: 2, now })
}

function messageTo(subscription: Subscription, wish: Partial<Delivery> = {}): [WebhookMessage, Delivery] {
  const message = { id: uuid(), type: 'order.created', timestamp: now, bodies: { [subscription.version]: '{}' } }
  const delivery = { id: uuid(), subscriptionId: subscription.id, messageId: message.id, eventType: message.type, createdAt: now }
  return [
    message,
    { ...delivery, status: 'pending', attempts: 0, roundStart: 0, ...(wish.status === undefined && { nextAttemptAt: now }), ...wish }
  ]
}

function attemptOf({ id: deliveryId }: Delivery, number: number) {
  return { id: uuid(), deliveryId, number, startedAt: now + number, durationMilliseconds: 12, statusCode: 503 }
}

/** Without the members that are undefined: a store may leave them out or not. */
function present<Value>(value: Value): Value {
  return value === undefined ? value : JSON.parse(JSON.stringify(value))
}

function refuse(): never {
  throw new Error('No.')
}
