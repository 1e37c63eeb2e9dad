import type { Transaction } from '@concordat/work-queue'
import type { Emission } from '../emit/emission.ts'
import { enqueueVerification } from '../emit/queues.ts'
import { errorList } from '../errors.ts'
import type { AddressGuard } from '../guard-addresses/address-guard.ts'
import type { Settings } from '../options.ts'
import {
  changedSubscription,
  type NewSubscription,
  newSubscription,
  ownerKey,
  rotatedSubscription,
  type Subscription,
  type SubscriptionChange,
  startsVerification
} from '../store/subscription.ts'
import { timeOrderedId } from '../store/time-ordered-id.ts'
import { countChange, requireInput } from './change-checks.ts'
import { isOf, maxOwnerLength, type OwnerSelection } from './owner.ts'

/** Checks the current subscription before a change. It throws to refuse the change. */
export type Check = (current: Subscription) => void

interface ChangeTools {
  /** The event types that exist. */
  readonly known: readonly string[]
  readonly emission: Emission
  readonly guard: AddressGuard
}

/** Creates the methods of `app.webhooks` that create, change and remove subscriptions, and that send a ping, which counts as a change. */
export function subscriptionChanges(settings: Settings, { known, emission, guard }: ChangeTools) {
  const { store, queue, currentTransaction, now } = settings

  /** Locks a subscription. What may refuse a change comes before its count, and that before the change, which a store in memory would not take back. */
  async function lockedSubscription(owner: OwnerSelection, id: string, check: Check, transaction: Transaction | undefined) {
    const unchanged = (current: Subscription) => {
      check(existing(owner, current))
      return current
    }
    return existing(owner, await store.changeSubscription(id, unchanged, transaction))
  }

  return {
    async subscribe(owner: string, input: NewSubscription, version = 1, audience = owner, tenant?: string) {
      requireInput(input, known, guard)
      if (owner.length > maxOwnerLength)
        throw new TypeError(
          `webhooks: the owner of a subscription has more than ${maxOwnerLength} characters. Return a shorter id from options.owner.`
        )
      const { maxSubscriptions } = settings
      const added = newSubscription(input, { id: timeOrderedId(), owner, tenant, audience, version, now: now() })
      await emission.inTransaction(async (transaction) => {
        await countChange(settings, ownerKey(added), transaction)
        if (!(await store.addSubscription(added, maxSubscriptions, transaction)))
          throw errorList.create('WEBHOOK_SUBSCRIPTION_LIMIT', { params: { limit: maxSubscriptions } })
        await enqueueVerification(queue, added, transaction)
      })
      return added
    },
    async change(owner: OwnerSelection, id: string, input: SubscriptionChange, check: Check = () => {}) {
      requireInput(input, known, guard)
      return emission.inTransaction(async (transaction) => {
        const before = await lockedSubscription(owner, id, check, transaction)
        if (typeof owner === 'string') {
          if (input.status === 'enabled' && before.disabledReason === 'byAdministrator')
            throw errorList.create('WEBHOOK_DISABLED_BY_ADMINISTRATOR')
          if (startsVerification(before, input)) await countChange(settings, owner, transaction)
        }
        const change = (current: Subscription) => {
          const after = changedSubscription(current, input, now())
          return typeof owner !== 'string' && after.status === 'disabled' ? { ...after, disabledReason: 'byAdministrator' as const } : after
        }
        const changed = existing(owner, await store.changeSubscription(id, change, transaction))
        if (changed.verificationJobId !== before.verificationJobId) await enqueueVerification(queue, changed, transaction)
        return changed
      })
    },
    async rotateKey(owner: string, id: string) {
      existing(owner, await store.subscription(id, currentTransaction()))
      return existing(owner, await store.changeSubscription(id, (current) => rotatedSubscription(current, now()), currentTransaction()))
    },
    async unsubscribe(owner: OwnerSelection, id: string, check: Check = () => {}) {
      await emission.inTransaction(async (transaction) => {
        await lockedSubscription(owner, id, check, transaction)
        await store.removeSubscription(id, transaction)
      })
    },
    async ping(owner: string, id: string) {
      return emission.inTransaction(async (transaction) => {
        const pinged = await lockedSubscription(owner, id, requireEnabled, transaction)
        await countChange(settings, owner, transaction)
        // Just after the change that started it, the verification itself is as fast.
        const isSlow = pinged.verificationJobId !== undefined && now() - pinged.updatedAt >= 5000
        if (isSlow) await enqueueVerification(queue, pinged, transaction, true)
        const delivery = await emission.ping(pinged, transaction)
        if (delivery === undefined) throw errorList.create('WEBHOOK_SUBSCRIPTION_NOT_FOUND')
        return delivery
      })
    }
  }
}

/** Returns a subscription that is among those of the owner. */
export function existing(owner: OwnerSelection, found: Subscription | undefined): Subscription {
  if (found === undefined || !isOf(owner, found)) throw errorList.create('WEBHOOK_SUBSCRIPTION_NOT_FOUND')
  return found
}

export function requireEnabled({ status }: Subscription) {
  if (status === 'disabled') throw errorList.create('WEBHOOK_SUBSCRIPTION_DISABLED')
}
