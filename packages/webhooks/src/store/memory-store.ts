import type { Attempt, Delivery, DeliveryStatus, WebhookMessage } from './delivery.ts'
import { keyOf, type Outage, receiverOf } from './outage.ts'
import type { CountSelection, DeliverySelection, PageSelection, WebhookStore } from './store.ts'
import type { Subscription } from './subscription.ts'

/** Creates a store in the memory of one process, for tests and development. Its contents are lost when the process ends. */
export function memoryWebhookStore(): WebhookStore {
  const subscriptions = new Map<string, Subscription>()
  const outages = new Map<string, Outage>()
  const messages = new Map<string, WebhookMessage>()
  const deliveries = new Map<string, Delivery>()
  const attempts = new Map<string, Attempt[]>()
  // The owner with the latest change is last.
  const changes = new Map<string, readonly number[]>()

  function removeDeliveries(gone: readonly Delivery[]) {
    for (const { id } of gone) {
      deliveries.delete(id)
      attempts.delete(id)
    }
    const used = new Set([...deliveries.values()].map(({ messageId }) => messageId))
    for (const { messageId } of gone) if (!used.has(messageId)) messages.delete(messageId)
  }

  const ownedBy = (owner: string | undefined) => [...subscriptions.values()].filter((one) => owner === undefined || one.owner === owner)

  function deliveriesTo(id: string, wanted?: DeliveryStatus) {
    return [...deliveries.values()].filter(({ subscriptionId, status }) => subscriptionId === id && status === (wanted ?? status))
  }

  function selectedBy(selection: CountSelection): readonly unknown[] {
    if ('owner' in selection) return ownedBy(selection.owner)
    if ('deliveryId' in selection) return attempts.get(selection.deliveryId) ?? []
    return deliveriesTo(selection.subscriptionId, selection.status)
  }

  return {
    transaction: async (work) => work(undefined),

    async addSubscription(subscription, maxOfOwner) {
      if (ownedBy(subscription.owner).length >= maxOfOwner) return false
      subscriptions.set(subscription.id, subscription)
      return true
    },
    subscription: async (id) => subscriptions.get(id),
    subscriptionsOf: async (owner, page) => pageOf(ownedBy(owner), page),
    subscribersOf: async ({ eventType, owner, audiences }) =>
      ownedBy(owner).filter(
        ({ status, eventTypes, audience }) =>
          status === 'enabled' && eventTypes.includes(eventType) && (audiences?.includes(audience) ?? true)
      ),
    async changeSubscription(id, change) {
      const current = subscriptions.get(id)
      if (current !== undefined) subscriptions.set(id, change(current))
      return subscriptions.get(id)
    },
    pausedReceivers: async (limit) => Math.min(limit, [...outages.values()].filter(({ isPaused }) => isPaused).length),
    outage: async (receiver) => outages.get(keyOf(receiver)),
    async changeOutage(receiver, change) {
      const key = keyOf(receiver)
      const changed = change(outages.get(key))
      if (changed === undefined) outages.delete(key)
      else outages.set(key, changed)
      return changed
    },
    async removeSubscription(id) {
      removeDeliveries(deliveriesTo(id))
      return subscriptions.delete(id)
    },

    async countChange({ owner, now, since, limit }) {
      for (const [other, times] of changes) {
        if ((times.at(-1) as number) > since) break
        changes.delete(other)
      }
      const recent = (changes.get(owner) ?? []).filter((time) => time > since)
      if (recent.length >= limit) return recent[0]
      changes.delete(owner)
      changes.set(owner, [...recent, now])
      return undefined
    },

    async addMessage(message, added) {
      const wanted = added.filter(({ subscriptionId }) => subscriptions.has(subscriptionId))
      if (messages.has(message.id) || wanted.length === 0) return false
      messages.set(message.id, message)
      for (const delivery of wanted) deliveries.set(delivery.id, delivery)
      return true
    },
    delivery: async (id) => deliveries.get(id),
    async deliveryToSend(id) {
      const delivery = deliveries.get(id)
      const subscription = subscriptions.get(delivery?.subscriptionId ?? '')
      const body = messages.get(delivery?.messageId ?? '')?.bodies[subscription?.version ?? 0]
      if (delivery === undefined || subscription === undefined || body === undefined) return undefined
      return { delivery, subscription, outage: outages.get(keyOf(receiverOf(subscription))), body }
    },
    deliveriesOf: async (subscriptionId, { status, ...page }) => pageOf(deliveriesTo(subscriptionId, status), page),
    async saveDelivery(delivery, attempt) {
      if (!deliveries.has(delivery.id)) return
      deliveries.set(delivery.id, delivery)
      if (attempt !== undefined) attempts.set(delivery.id, [...(attempts.get(delivery.id) ?? []), attempt])
    },
    async changeDeliveries(selection, change) {
      const selected = [...deliveries.values()].filter((delivery) => isSelected(delivery, selection)).toSorted(byCreation)
      const changed = ('limit' in selection ? selected.slice(0, selection.limit) : selected).map(change)
      for (const delivery of changed) deliveries.set(delivery.id, delivery)
      return changed
    },
    attemptsOf: async (deliveryId, page) => pageOf(attempts.get(deliveryId) ?? [], page),
    count: async (selection, limit) => Math.min(limit, selectedBy(selection).length),
    async removeEndedBefore(time, limit) {
      const gone = [...deliveries.values()].filter(({ endedAt = Infinity }) => endedAt < time).slice(0, limit)
      removeDeliveries(gone)
      return gone.length
    }
  }
}

function isSelected({ id, subscriptionId, status, createdAt, endedAt = 0 }: Delivery, selection: DeliverySelection) {
  if (subscriptionId !== selection.subscriptionId) return false
  if ('id' in selection) return id === selection.id && status !== 'pending'
  const { since, until } = selection
  if (createdAt < since || createdAt >= until) return false
  if ('pendingAfter' in selection) return status === 'pending' && id > selection.pendingAfter
  return (status === 'failed' || status === 'cancelled') && endedAt < selection.endedBefore
}

function byCreation(one: Delivery, other: Delivery) {
  return one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1)
}

function pageOf<Item extends { readonly id: string }>(
  items: readonly Item[],
  { limit, after, oldestFirst = false }: PageSelection
): Item[] {
  return items
    .filter(({ id }) => after === undefined || (oldestFirst ? id > after : id < after))
    .toSorted((a, b) => (a.id > b.id === oldestFirst ? 1 : -1))
    .slice(0, limit)
}
