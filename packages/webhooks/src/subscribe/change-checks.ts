import type { Transaction } from '@concordat/work-queue'
import { changeLimit, eventTypesUnknown, urlRefused } from '../errors.ts'
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
  if (oldest !== undefined) throw changeLimit(limit, Math.max(1, Math.ceil((oldest + periodMs - time) / 1000)))
}

/** Checks what a client sends for a subscription. Throws 422 for a URL that is refused, and for event types that are not known. */
export function requireInput(
  { url, eventTypes = [] }: SubscriptionChange,
  known: readonly string[],
  guard: Pick<AddressGuard, 'refusalOf'>
): void {
  const rule = url === undefined ? undefined : guard.refusalOf(url)
  if (rule !== undefined) throw urlRefused(rule)
  const unknown = [...eventTypes.keys()].filter((position) => !known.includes(eventTypes[position] ?? ''))
  if (unknown.length > 0) throw eventTypesUnknown(unknown)
}
