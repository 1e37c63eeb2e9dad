import type { Settings } from '../options.ts'
import { type OwnerFilter, pagesOf } from '../store/store.ts'
import { disabledSubscription, ownerKey, type Subscription } from '../store/subscription.ts'

/** Stands for the subscriptions of all owners, for administrators. */
export const everyOwner: unique symbol = Symbol('every owner')

/** The maximum length of the name of an owner, in characters. Administrators read it, and the description of a service publishes it. */
export const maxOwnerLength = 1024

/** An owner in a tenant, as `ownerKey` writes both; all owners of a tenant, or {@link everyOwner}. */
export type OwnerSelection = string | { readonly tenant: string } | typeof everyOwner

/** Returns whether a subscription is among those of the owner. */
export function isOf(owner: OwnerSelection, subscription: Subscription): boolean {
  if (typeof owner === 'object') return owner.tenant === subscription.tenant
  return owner === everyOwner || owner === ownerKey(subscription)
}

/** Returns the owner for the store. */
export function ownerOrAll(owner: OwnerSelection): OwnerFilter {
  return owner === everyOwner ? undefined : owner
}

/** Disables all subscriptions of an owner who has lost access, in a tenant, or everywhere if the owner is named without one. Returns the number of those that were enabled. */
export async function disableSubscriptionsOf({ store, currentTransaction, now }: Settings, owner: string): Promise<number> {
  // What an administrator has disabled stays so, also when the owner gets access again.
  const revoked = (current: Subscription) =>
    current.disabledReason === 'byAdministrator' ? current : disabledSubscription(current, 'accessRevoked', now())
  const filter: OwnerFilter = owner.includes('\n') ? owner : { ownerInAnyTenant: owner }
  let disabled = 0
  for await (const page of pagesOf(async (selection) => store.subscriptionsOf(filter, selection, currentTransaction())))
    for (const { id, status } of page) {
      if (status === 'enabled') disabled += 1
      await store.changeSubscription(id, revoked, currentTransaction())
    }
  return disabled
}
