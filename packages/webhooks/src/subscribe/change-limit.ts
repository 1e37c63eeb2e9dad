import type { Transaction } from '@concordat/work-queue'
import { changeLimit } from '../errors.ts'
import type { Settings } from '../options.ts'

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
