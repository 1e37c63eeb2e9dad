import type { Attempt, Delivery, DeliveryStatus, WebhookMessage } from './delivery.ts'
import { keyOf, type Outage, receiverOf } from './outage.ts'
import { type CountSelection, type DeliverySelection, type OwnerFilter, pageOf, type WebhookStore } from './store.ts'
import type { Subscription } from './subscription.ts'

type Methods =
  | 'addMessage'
  | 'delivery'
  | 'deliveryToSend'
  | 'deliveriesOf'
  | 'saveDelivery'
  | 'changeDeliveries'
  | 'attemptsOf'
  | 'removeEndedBefore'
type CountedItems = Exclude<CountSelection, { readonly owner: OwnerFilter }>

/** Creates the part of the store in memory for messages, deliveries and attempts. */
export function memoryDeliveries(subscriptions: ReadonlyMap<string, Subscription>, outages: ReadonlyMap<string, Outage>) {
  const messages = new Map<string, WebhookMessage>()
  const deliveries = new Map<string, Delivery>()
  const attempts = new Map<string, Attempt[]>()

  function removeDeliveries(gone: readonly Delivery[]) {
    for (const { id } of gone) {
      deliveries.delete(id)
      attempts.delete(id)
    }
    const used = new Set([...deliveries.values()].map(({ messageId }) => messageId))
    for (const { messageId } of gone) if (!used.has(messageId)) messages.delete(messageId)
  }

  function deliveriesTo(id: string, wanted?: DeliveryStatus) {
    return [...deliveries.values()].filter(({ subscriptionId, status }) => subscriptionId === id && status === (wanted ?? status))
  }

  function selectedBy(selection: CountedItems): readonly unknown[] {
    if ('deliveryId' in selection) return attempts.get(selection.deliveryId) ?? []
    return deliveriesTo(selection.subscriptionId, selection.status)
  }

  const methods: Pick<WebhookStore, Methods> = {
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
    async removeEndedBefore(time, limit) {
      const gone = [...deliveries.values()].filter(({ endedAt = Infinity }) => endedAt < time).slice(0, limit)
      removeDeliveries(gone)
      return gone.length
    }
  }
  return { methods, selectedBy, removeTo: (id: string) => removeDeliveries(deliveriesTo(id)) }
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
