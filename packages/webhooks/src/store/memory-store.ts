import { memoryDeliveries } from './memory-deliveries.ts'
import { keyOf, type Outage } from './outage.ts'
import { type OwnerFilter, pageOf, type WebhookStore } from './store.ts'
import { ownerKey, type Subscription } from './subscription.ts'

/** Creates a store in the memory of one process, for tests and development. Its contents are lost when the process ends. */
export function memoryWebhookStore(): WebhookStore {
  const subscriptions = new Map<string, Subscription>()
  const outages = new Map<string, Outage>()
  const deliveries = memoryDeliveries(subscriptions, outages)
  // The owner with the latest change is last.
  const changes = new Map<string, readonly number[]>()

  const ownedBy = (owner: OwnerFilter) => [...subscriptions.values()].filter((one) => isOf(one, owner))

  return {
    transaction: async (work) => work(undefined),

    async addSubscription(subscription, maxOfOwner) {
      if (ownedBy(ownerKey(subscription)).length >= maxOfOwner) return false
      subscriptions.set(subscription.id, subscription)
      return true
    },
    subscription: async (id) => subscriptions.get(id),
    subscriptionsOf: async (owner, page) => pageOf(ownedBy(owner), page),
    subscribersOf: async ({ eventType, tenant, owner, audiences }) =>
      ownedBy(owner).filter(
        ({ status, eventTypes, audience, tenant: own }) =>
          status === 'enabled' && own === tenant && eventTypes.includes(eventType) && (audiences?.includes(audience) ?? true)
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
      deliveries.removeTo(id)
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

    ...deliveries.methods,
    count: async (selection, limit) =>
      Math.min(limit, ('owner' in selection ? ownedBy(selection.owner) : deliveries.selectedBy(selection)).length)
  }
}

function isOf(one: Subscription, owner: OwnerFilter) {
  if (typeof owner !== 'object') return owner === undefined || owner === ownerKey(one)
  return 'tenant' in owner ? owner.tenant === one.tenant : owner.ownerInAnyTenant === one.owner
}
