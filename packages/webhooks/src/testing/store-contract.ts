import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import type { RunTest } from '@concordat/plugin-kit/testing'
import { v4 as randomId, v7 as uuid } from 'uuid'
import type { Delivery } from '../store/delivery.ts'
import { type Outage, receiverOf } from '../store/outage.ts'
import type { OwnerFilter, SubscriberSelection, WebhookStore } from '../store/store.ts'
import { disabledSubscription, ownerKey, rotatedSubscription, type Subscription } from '../store/subscription.ts'
import { deliveryStoreContract } from './delivery-store-contract.ts'
import { attemptOf, beginStore, messageTo, now, present, subscriptionOf } from './store-fixtures.ts'

const all = { limit: 1000 }

/** Tests whether a store implements `WebhookStore` correctly. `create` is called in each test and may return the same store each time. */
export function webhookStoreContract(test: RunTest, create: () => WebhookStore | Promise<WebhookStore>): void {
  const begin = async (...inputs: readonly Partial<Delivery>[]) => beginStore(create, ...inputs)

  test('subscription returns a subscription as it was stored, and undefined for an unknown id', async () => {
    const { store, subscription } = await begin()
    deepStrictEqual(present(await store.subscription(subscription.id)), present(subscription))
    const full = rotatedSubscription({ ...subscription, id: uuid(), description: "Ñandú's\n🐦", signature: 'ed25519', ordered: true }, now)
    await store.addSubscription(full, 100)
    deepStrictEqual(present(await store.subscription(full.id)), present(full))
    strictEqual(await store.subscription(uuid()), undefined)
  })

  test('subscriptionsOf returns the subscriptions of an owner, newest or oldest first, in pages', async () => {
    const { store, subscription } = await begin()
    const others = [1, 2, 3].map(() => ({ ...subscription, id: uuid() }))
    for (const other of others) await store.addSubscription(other, 100)
    const ids = [subscription, ...others].map(({ id }) => id).toReversed()
    const page = async (limit: number, after?: string, oldestFirst?: boolean) =>
      (await store.subscriptionsOf(subscription.owner, { limit, after, oldestFirst })).map(({ id }) => id)
    deepStrictEqual(await page(1000), ids)
    deepStrictEqual(await page(2), ids.slice(0, 2))
    deepStrictEqual(await page(3, ids[1]), ids.slice(2))
    deepStrictEqual(await page(1000, undefined, true), ids.toReversed())
    deepStrictEqual(await page(2, ids[3], true), [ids[2], ids[1]])
    deepStrictEqual(await store.subscriptionsOf(randomId(), all), [])
    deepStrictEqual([await store.count({ owner: subscription.owner }, 10), await store.count({ owner: subscription.owner }, 3)], [4, 3])
    strictEqual(await store.count({ owner: randomId() }, 10), 0)
  })

  test('addSubscription stores no more than the maximum of an owner, also when many are added at the same time', async () => {
    const store = await create()
    const first = subscriptionOf()
    const added = await Promise.all(Array.from({ length: 12 }, () => store.addSubscription({ ...first, id: uuid() }, 3)))
    deepStrictEqual(added.filter(Boolean).length, 3)
    strictEqual(await store.count({ owner: first.owner }, 100), 3)
    strictEqual(await store.addSubscription(subscriptionOf(), 3), true)
    strictEqual(await store.addSubscription({ ...first, id: uuid() }, 4), true)
  })

  test('countChange counts the changes of an owner up to the limit, also those at the same time, and forgets old ones', async () => {
    const store = await create()
    const [owner, other] = [randomId(), randomId()]
    const count = async (time: number, by = owner) => store.countChange({ owner: by, now: time, since: time - 1000, limit: 3 })
    strictEqual(await count(now), undefined)
    strictEqual(await count(now + 100.5), undefined)
    const results = await Promise.all([200, 200, 200, 200].map(async (after) => count(now + after)))
    deepStrictEqual(results.toSorted(), [now, now, now, undefined])
    strictEqual(await count(now + 200, other), undefined)
    strictEqual(await count(now + 1000), undefined)
    strictEqual(await count(now + 1000), now + 100.5)
    for (const after of [2000, 2000, 2000]) strictEqual(await count(now + after), undefined)
    strictEqual(await count(now + 2500), now + 2000)
    strictEqual(await count(now + 9000, other), undefined)
    strictEqual(await count(now + 9000), undefined)
  })

  test('countChange counts nothing in a transaction that is rolled back, and counts a change of a removed subscription', async () => {
    const { store, subscription } = await begin()
    const change = { owner: subscription.owner, now, since: now - 1000, limit: 1 }
    let isTransactional = false
    const work = store.transaction(async (transaction) => {
      isTransactional = transaction !== undefined
      if (isTransactional) strictEqual(await store.countChange(change, transaction), undefined)
      throw new Error('Back.')
    })
    await rejects(work, /Back\./)
    strictEqual(await store.countChange(change), undefined)
    await store.removeSubscription(subscription.id)
    strictEqual(await store.countChange(change), now)
  })

  test('subscribersOf returns those of an owner, or of some audiences, also after a change', async () => {
    const store = await create()
    const type = `type_${randomId().replaceAll('-', '')}`
    const own = (): Subscription => ({ ...subscriptionOf(), eventTypes: [type, 'a'] })
    const [one, two, three] = [own(), own(), own()] as const
    for (const subscription of [one, two, three]) await store.addSubscription(subscription, 100)
    const idsOf = async (selection: Omit<SubscriberSelection, 'eventType'>) =>
      (await store.subscribersOf({ eventType: type, ...selection })).map(({ id }) => id)
    deepStrictEqual(await idsOf({ owner: two.owner }), [two.id])
    deepStrictEqual(await idsOf({ audiences: [one.audience, three.audience, 'nobody'] }), [one.id, three.id])
    deepStrictEqual(await idsOf({ audiences: [] }), [])
    deepStrictEqual(await idsOf({}), [one.id, two.id, three.id])
    await store.changeSubscription(one.id, (current) => ({ ...current, eventTypes: ['b'] }))
    await store.changeSubscription(two.id, (current) => ({ ...current, eventTypes: ['b', type] }))
    deepStrictEqual(await idsOf({ audiences: [one.audience, two.audience] }), [two.id])
  })

  test('keeps an owner in two tenants apart, and finds the owner in all of them, and the subscriptions of a tenant', async () => {
    const store = await create()
    const none = subscriptionOf()
    const [a, b] = [`a-${randomId()}`, `b-${randomId()}`]
    const inTenants = [a, b].map((tenant) => ({ ...subscriptionOf(), owner: none.owner, tenant }))
    const similar = [`${none.owner} b`, `${none.owner}\r`, `${none.owner}0`].map((owner) => ({ ...subscriptionOf(), owner }))
    const [ofA, ofB] = inTenants as [Subscription, Subscription]
    for (const subscription of [none, ...inTenants, ...similar]) strictEqual(await store.addSubscription(subscription, 1), true)
    strictEqual(await store.addSubscription({ ...subscriptionOf(), owner: none.owner, tenant: a }, 1), false)
    const idsOf = async (owner: OwnerFilter) => {
      const found = await store.subscriptionsOf(owner, all)
      strictEqual(await store.count({ owner }, 100), found.length)
      return found.map(({ id }) => id).toSorted()
    }
    deepStrictEqual(await idsOf(none.owner), [none.id])
    deepStrictEqual(await idsOf(ownerKey(ofA)), [ofA.id])
    deepStrictEqual(await idsOf({ tenant: b }), [ofB.id])
    deepStrictEqual(await idsOf({ ownerInAnyTenant: none.owner }), [none.id, ofA.id, ofB.id].toSorted())
    deepStrictEqual(present(await store.subscription(ofA.id)), present(ofA))
    const subscribers = async (selection: object) => {
      const found = await store.subscribersOf({ eventType: 'order.created', ...selection })
      return found.map(({ id }) => id).filter((id) => [none.id, ofA.id, ofB.id].includes(id))
    }
    deepStrictEqual(await subscribers({}), [none.id])
    deepStrictEqual(await subscribers({ tenant: a }), [ofA.id])
    deepStrictEqual(await subscribers({ tenant: b, audiences: [ofB.audience, ofA.audience] }), [ofB.id])
    deepStrictEqual(await subscribers({ tenant: b, audiences: [ofA.audience] }), [])
    deepStrictEqual(await subscribers({ tenant: a, owner: ownerKey(ofB) }), [])
  })

  test('subscriptionsOf returns the subscriptions of all owners when none is given', async () => {
    const store = await create()
    const [one, other] = [subscriptionOf(), subscriptionOf()]
    for (const subscription of [one, other]) await store.addSubscription(subscription, 100)
    const found = (await store.subscriptionsOf(undefined, { limit: 2 })).map(({ id }) => id)
    deepStrictEqual(found, [one.id, other.id].toSorted().toReversed())
    strictEqual(await store.count({ owner: undefined }, 2), 2)
  })

  test('subscribersOf returns the enabled subscriptions to an event type', async () => {
    const store = await create()
    const type = `type_${randomId().replaceAll('-', '')}`
    const wanted = { ...subscriptionOf(), eventTypes: ['a', type] }
    const others = [
      subscriptionOf(),
      { ...disabledSubscription(wanted, 'gone', now), id: uuid() },
      { ...wanted, id: uuid(), eventTypes: [`${type}.b`] }
    ]
    for (const subscription of [wanted, ...others]) await store.addSubscription(subscription, 100)
    deepStrictEqual(
      (await store.subscribersOf({ eventType: type })).map(({ id }) => id),
      [wanted.id]
    )
  })

  test('changeSubscription applies concurrent changes one after the other, and changes nothing when the change throws', async () => {
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

  test('changeOutage stores, changes and removes the outage of a receiver, and deliveryToSend returns it', async () => {
    const { store, subscription, deliveries } = await begin({})
    const [{ id }] = deliveries as [Delivery]
    const receiver = receiverOf(subscription)
    const outage = {
      ...receiver,
      jobId: uuid(),
      since: now,
      failures: 1,
      isPaused: false,
      waitSeconds: 1.5,
      nextProbeAt: now + 1,
      isProbed: false
    }
    const outageOf = async () => present((await store.deliveryToSend(id))?.outage)
    strictEqual(await outageOf(), undefined)
    deepStrictEqual(present(await store.changeOutage(receiver, () => outage)), outage)
    const paused = await store.pausedReceivers?.(1000)
    await store.changeOutage({ ...receiver, origin: 'https://other.example.com' }, () => ({
      ...outage,
      isPaused: true,
      origin: 'https://other.example.com'
    }))
    if (paused !== undefined) deepStrictEqual([await store.pausedReceivers?.(1000), await store.pausedReceivers?.(1)], [paused + 1, 1])
    deepStrictEqual(await outageOf(), outage)
    const failed = (current: Outage | undefined) => (current === undefined ? outage : { ...current, failures: current.failures + 1 })
    await Promise.all(Array.from({ length: 10 }, async () => store.changeOutage(receiver, failed)))
    strictEqual((await outageOf())?.failures, 11)
    await rejects(store.changeOutage(receiver, refuse), /No\./)
    strictEqual((await store.changeOutage(receiver, (current) => current))?.failures, 11)
    strictEqual((await store.outage(receiver))?.failures, 11)
    strictEqual(await store.changeOutage(receiver, () => undefined), undefined)
    strictEqual(await outageOf(), undefined)
    strictEqual(await store.changeOutage(receiver, (current) => current), undefined)
    strictEqual(await store.outage(receiver), undefined)
    await Promise.all(Array.from({ length: 10 }, async () => store.changeOutage(receiver, failed)))
    strictEqual((await outageOf())?.failures, 10, 'also when there was none')
  })

  test('outage makes changes of the outage wait until the transaction ends', async () => {
    const { store, subscription } = await begin()
    const receiver = receiverOf(subscription)
    const order: string[] = []
    let changed: Promise<unknown> | undefined
    await store.transaction(async (transaction) => {
      strictEqual(await store.outage(receiver, transaction), undefined)
      if (transaction === undefined) return
      changed = store.changeOutage(receiver, () => undefined).then(() => order.push('changed'))
      order.push('read')
    })
    await changed
    deepStrictEqual(order, changed === undefined ? [] : ['read', 'changed'])
  })

  test('removeSubscription removes a subscription with its deliveries and attempts', async () => {
    const { store, subscription, deliveries } = await begin({})
    const [delivery] = deliveries as [Delivery]
    await store.saveDelivery({ ...delivery, attempts: 1 }, attemptOf(delivery, 1))
    strictEqual(await store.removeSubscription(subscription.id), true)
    strictEqual(await store.subscription(subscription.id), undefined)
    strictEqual(await store.delivery(delivery.id), undefined)
    strictEqual(await store.deliveryToSend(delivery.id), undefined)
    deepStrictEqual(await store.attemptsOf(delivery.id, all), [])
    deepStrictEqual(await store.deliveriesOf(subscription.id, all), [])
    strictEqual(await store.count({ deliveryId: delivery.id }, 10), 0)
    strictEqual(await store.count({ subscriptionId: subscription.id }, 10), 0)
    deepStrictEqual(await store.changeDeliveries({ subscriptionId: subscription.id, id: delivery.id }, refuse), [])
    strictEqual(await store.removeSubscription(subscription.id), false)
  })

  test('a transaction stores everything or nothing', async () => {
    const { store, subscription } = await begin()
    const [message, delivery] = messageTo(subscription)
    const other = subscriptionOf()
    let isTransactional = false
    const work = store.transaction(async (transaction) => {
      isTransactional = transaction !== undefined
      await store.addSubscription(other, 100, transaction)
      await store.addMessage(message, [delivery], transaction)
      await store.changeSubscription(subscription.id, (current) => ({ ...current, revision: 9 }), transaction)
      ok((await store.subscribersOf({ eventType: subscription.eventTypes[0] as string }, transaction)).some(({ id }) => id === other.id))
      if (isTransactional) throw new Error('Back.')
    })
    const failure = await work.then(
      () => undefined,
      (error: Error) => error.message
    )
    strictEqual(failure, isTransactional ? 'Back.' : undefined)
    strictEqual((await store.subscription(other.id)) === undefined, isTransactional)
    strictEqual((await store.delivery(delivery.id)) === undefined, isTransactional)
    strictEqual((await store.subscription(subscription.id))?.revision, isTransactional ? 1 : 9)
  })

  deliveryStoreContract(test, create)
}

function refuse(): never {
  throw new Error('No.')
}
