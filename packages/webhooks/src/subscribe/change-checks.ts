import type { Transaction } from '@concordat/work-queue'
import { errorList } from '../errors.ts'
import type { AddressGuard } from '../guard-addresses/address-guard.ts'
import type { Settings } from '../options.ts'
import type { SubscriptionChange } from '../store/subscription.ts'

const periodMs = 3_600_000
// An owner can create all subscriptions in an hour.
const minChanges = 20

/**
 * Counts a change that sends a request to a URL: a creation, another URL, an enabled subscription, or a requested ping. An owner has one limit for all of
 * them, also across removed subscriptions. Throws 429 `WEBHOOK_CHANGE_LIMIT`.
 */
export async function countChange(
  { store, maxSubscriptions, now }: Settings,
  owner: string,
  transaction: Transaction | undefined
): Promise<void> {
  const limit = Math.max(minChanges, maxSubscriptions)
  const time = now()
  const oldest = await store.countChange({ owner, now: time, since: time - periodMs, limit }, transaction)
  if (oldest === undefined) return
  const seconds = Math.max(1, Math.ceil((oldest + periodMs - time) / 1000))
  throw errorList.create('WEBHOOK_CHANGE_LIMIT', { params: { limit, seconds }, headers: { 'retry-after': String(seconds) } })
}

/** Checks what a client sends for a subscription. Throws 422 for a URL that is refused, and for event types that are not known. */
export function requireInput(
  { url, eventTypes = [] }: SubscriptionChange,
  known: readonly string[],
  guard: Pick<AddressGuard, 'refusalOf'>
): void {
  const rule = url === undefined ? undefined : guard.refusalOf(url)
  if (rule !== undefined) throw errorList.create('WEBHOOK_URL_REFUSED', { errors: [{ field: 'body.url', key: rule }] })
  const errors = eventTypes.flatMap((type, position) =>
    known.includes(type) ? [] : [{ field: `body.eventTypes.${position}`, key: 'eventTypeUnknown' as const }]
  )
  if (errors.length > 0) throw errorList.create('WEBHOOK_EVENT_TYPE_UNKNOWN', { errors })
}
