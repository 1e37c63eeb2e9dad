import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import type { RunTest } from '@concordat/plugin-kit/testing'
import { v7 as uuid } from 'uuid'
import { type Delivery, reopenedDelivery } from '../store/delivery.ts'
import type { DeliverySelection, WebhookStore } from '../store/store.ts'
import { attemptOf, beginStore, type CreateStore, messageTo, now, present, subscriptionOf } from './store-fixtures.ts'

const hour = 3_600_000
const all = { limit: 1000 }

/** Tests the part of the store contract for messages, deliveries and attempts. */
export function deliveryStoreContract(test: RunTest, create: CreateStore): void {
  const begin = async (...inputs: readonly Partial<Delivery>[]) => beginStore(create, ...inputs)

  test('addMessage stores a message once, also for concurrent calls', async () => {
    const { store, subscription } = await begin()
    const [message] = messageTo(subscription)
    const added = await Promise.all(
      Array.from({ length: 10 }, async () => store.addMessage(message, [{ ...messageTo(subscription)[1], messageId: message.id }]))
    )
    strictEqual(added.filter(Boolean).length, 1)
    strictEqual((await store.deliveriesOf(subscription.id, all)).length, 1)
  })

  test('addMessage stores only the deliveries whose subscription still exists, and nothing when none is left', async () => {
    const { store, subscription } = await begin()
    const [message, delivery] = messageTo(subscription)
    const [, lost] = messageTo(subscriptionOf(), { messageId: message.id })
    strictEqual(await store.addMessage(message, [lost, delivery]), true)
    strictEqual(await store.delivery(lost.id), undefined)
    const [unseen] = messageTo(subscription)
    strictEqual(await store.addMessage(unseen, [{ ...messageTo(subscriptionOf())[1], messageId: unseen.id }]), false)
    strictEqual(await store.addMessage(unseen, [{ ...messageTo(subscription)[1], messageId: unseen.id }]), true)
    deepStrictEqual(present(await store.delivery(delivery.id)), present(delivery))
  })

  test('deliveryToSend returns the delivery, its subscription and the bytes for the version of the subscription', async () => {
    const { store, subscription } = await begin()
    const [message, delivery] = messageTo(subscription)
    const body = '{"text":"Ñ \\u0000 \\ud83d\\udc26 🐦",  "n":1.10}'
    await store.addMessage({ ...message, bodies: { 1: '{}', [subscription.version]: body } }, [delivery])
    const found = await store.deliveryToSend(delivery.id)
    deepStrictEqual([found?.body, present(found?.delivery), present(found?.subscription)], [body, present(delivery), present(subscription)])
    strictEqual(await store.deliveryToSend(uuid()), undefined)
  })

  test('saveDelivery replaces a delivery and adds the attempt, and does not restore a removed delivery', async () => {
    const { store, deliveries } = await begin({})
    const [delivery] = deliveries as [Delivery]
    const { nextAttemptAt: _, ...ended } = { ...delivery, attempts: 2, status: 'delivered' as const, endedAt: now + 1 }
    const attempts = [attemptOf(delivery, 1), { ...attemptOf(delivery, 2), statusCode: undefined, failure: 'TIMEOUT' as const }]
    await store.saveDelivery({ ...delivery, attempts: 1 }, attempts[0])
    await store.saveDelivery(ended, attempts[1])
    deepStrictEqual(present(await store.delivery(delivery.id)), present(ended))
    deepStrictEqual((await store.attemptsOf(delivery.id, all)).map(present), attempts.toReversed().map(present))
    deepStrictEqual((await store.attemptsOf(delivery.id, { limit: 1, after: attempts[1]?.id })).map(present), [present(attempts[0])])
    const oldest = await store.attemptsOf(delivery.id, { limit: 2, oldestFirst: true })
    deepStrictEqual(oldest.map(present), attempts.map(present))
    await store.saveDelivery(ended, undefined)
    strictEqual((await store.attemptsOf(delivery.id, all)).length, 2)
    deepStrictEqual([await store.count({ deliveryId: delivery.id }, 10), await store.count({ deliveryId: delivery.id }, 1)], [2, 1])
    const gone = { ...ended, id: uuid() }
    await store.saveDelivery(gone, attemptOf(gone, 1))
    strictEqual(await store.delivery(gone.id), undefined)
  })

  test('deliveries are read and saved concurrently, also within one transaction', async () => {
    const { store, deliveries } = await begin({}, {}, {}, {}, {})
    const ids = deliveries.map(({ id }) => id)
    const found = await Promise.all([...ids, uuid()].map(async (id) => (await store.deliveryToSend(id))?.delivery.id))
    deepStrictEqual(found, [...ids, undefined])
    await store.transaction(async (transaction) => {
      const saves = deliveries.map(async (delivery, index) =>
        store.saveDelivery({ ...delivery, attempts: 7 + index }, index === 0 ? undefined : attemptOf(delivery, 7 + index), transaction)
      )
      await Promise.all(saves)
    })
    const saved = await Promise.all(
      ids.map(async (id) => [(await store.delivery(id))?.attempts, (await store.attemptsOf(id, all))[0]?.number])
    )
    deepStrictEqual(saved, [[7, undefined], ...[8, 9, 10, 11].map((number) => [number, number])])
  })

  test('deliveriesOf returns deliveries newest or oldest first, in pages and filtered by status', async () => {
    const { store, subscription, deliveries } = await begin({}, { status: 'failed', endedAt: now }, {}, { status: 'failed', endedAt: now })
    const ids = deliveries.map(({ id }) => id).toReversed()
    const list = async (input: Parameters<WebhookStore['deliveriesOf']>[1]) =>
      (await store.deliveriesOf(subscription.id, input)).map(({ id }) => id)
    deepStrictEqual(await list(all), ids)
    deepStrictEqual(await list({ limit: 2, after: ids[0] }), ids.slice(1, 3))
    deepStrictEqual(await list({ limit: 5, status: 'failed' }), [ids[0], ids[2]])
    deepStrictEqual(await list({ limit: 5, status: 'failed', after: ids[0] }), [ids[2]])
    deepStrictEqual(await list({ limit: 5, status: 'cancelled' }), [])
    deepStrictEqual(await list({ limit: 2, oldestFirst: true }), [ids[3], ids[2]])
    deepStrictEqual(await list({ limit: 5, oldestFirst: true, after: ids[3], status: 'failed' }), [ids[2], ids[0]])
    const count = async (limit: number, status?: Delivery['status']) => store.count({ subscriptionId: subscription.id, status }, limit)
    deepStrictEqual([await count(10), await count(3), await count(10, 'failed'), await count(10, 'cancelled')], [4, 3, 2, 0])
  })

  test('changeDeliveries changes one finished delivery once, and no delivery that is pending or of another subscription', async () => {
    const { store, subscription, deliveries } = await begin({ status: 'delivered', attempts: 3, endedAt: now }, {})
    const [ended, pending] = deliveries as [Delivery, Delivery]
    const reopen = async (subscriptionId: string, id: string) =>
      store.changeDeliveries({ subscriptionId, id }, (delivery) => reopenedDelivery(delivery, now + 5))
    deepStrictEqual(await reopen(subscription.id, pending.id), [])
    deepStrictEqual(await reopen(uuid(), ended.id), [])
    const reopened = (await Promise.all([1, 2, 3].map(async () => reopen(subscription.id, ended.id)))).flat()
    deepStrictEqual(reopened.map(present), [present({ ...reopenedDelivery(ended, now + 5), jobId: reopened[0]?.jobId })])
    deepStrictEqual(present(await store.delivery(ended.id)), present(reopened[0]))
  })

  test('changeDeliveries changes the undelivered, finished deliveries of a time range, oldest first, up to the limit', async () => {
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
      (await store.changeDeliveries(range, (delivery) => reopenedDelivery(delivery, now + 10 * hour))).map(({ id }) =>
        deliveries.findIndex((one) => one.id === id)
      )
    deepStrictEqual(await reopen(), [1, 2])
    deepStrictEqual(await reopen(), [5])
    deepStrictEqual(await reopen(), [])
  })

  test('changeDeliveries changes the pending deliveries of a time range, page by page', async () => {
    const { store, subscription, deliveries } = await begin(
      { createdAt: now - 1 },
      {},
      { status: 'failed', endedAt: now },
      { createdAt: now + 1 },
      { createdAt: now + 2 },
      { createdAt: now + 3 }
    )
    const range = { subscriptionId: subscription.id, since: now, until: now + 3, limit: 2 }
    const pendingAfter = '00000000-0000-0000-0000-000000000000'
    const promote = async (selection: DeliverySelection) =>
      (await store.changeDeliveries(selection, (delivery) => ({ ...delivery, nextAttemptAt: now - 7 }))).map(({ id }) =>
        deliveries.findIndex((one) => one.id === id)
      )
    deepStrictEqual(await promote({ ...range, pendingAfter }), [1, 3])
    deepStrictEqual(await promote({ ...range, pendingAfter: deliveries[3]?.id ?? '' }), [4])
    deepStrictEqual(await promote({ ...range, pendingAfter: deliveries[4]?.id ?? '' }), [])
    const changed = await Promise.all(deliveries.map(async ({ id }) => (await store.delivery(id))?.nextAttemptAt === now - 7))
    deepStrictEqual(changed, [false, true, false, true, true, false])
  })

  test('removeEndedBefore removes finished deliveries, their attempts and messages without deliveries, up to the limit', async () => {
    const store = await create()
    // This time is before everything that other tests leave in the same store, except the rows of removed subscriptions.
    const long = now - 1000 * 24 * hour
    await removeLeft(store)
    const [one, two] = [subscriptionOf(), subscriptionOf()]
    for (const subscription of [one, two]) await store.addSubscription(subscription, 100)
    const made = { createdAt: long - 1, status: 'failed' as const }
    const [message, first] = messageTo(one, { ...made, id: uuid({ msecs: made.createdAt }), endedAt: long })
    const [, other] = messageTo(two, { ...made, id: uuid({ msecs: made.createdAt }), endedAt: long + 10 })
    const second = { ...other, messageId: message.id }
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

  test('removeEndedBefore removes the rows of a removed subscription in any state, and nothing else', async () => {
    const { store, subscription, deliveries } = await begin({}, { status: 'failed', endedAt: now })
    const other = subscriptionOf()
    await store.addSubscription(other, 100)
    const [message, ownDelivery] = messageTo(other)
    await store.addMessage(message, [ownDelivery, { ...messageTo(subscription)[1], messageId: message.id }])
    await store.removeSubscription(subscription.id)
    await removeLeft(store)
    strictEqual((await store.deliveryToSend(ownDelivery.id))?.delivery.id, ownDelivery.id)
    for (const { messageId } of deliveries)
      strictEqual(await store.addMessage({ ...message, id: messageId }, [{ ...messageTo(other)[1], messageId }]), true)
    strictEqual((await store.deliveriesOf(other.id, all)).length, 3)
  })
}

async function removeLeft(store: WebhookStore) {
  while ((await store.removeEndedBefore(0, 1000)) > 0);
}
