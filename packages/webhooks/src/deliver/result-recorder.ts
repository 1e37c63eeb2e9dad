import type { Transaction } from '@concordat/work-queue'
import type { Emission } from '../emit/emission.ts'
import { deliveryQueue, enqueueProbes, enqueueWake } from '../emit/queues.ts'
import type { Settings } from '../options.ts'
import { type AttemptResult, outcomeOf } from '../send/attempt-result.ts'
import { requestedPauseSeconds } from '../send/retry-delay.ts'
import type { Delivery } from '../store/delivery.ts'
import { afterFailure, isProbe, type Outage, receiverOf } from '../store/outage.ts'
import { type DisabledReason, disabledSubscription, type Subscription, withFailingSince } from '../store/subscription.ts'

const disableAfterMs = 5 * 86_400_000

/** The result of one request to the receiver of a subscription: of a delivery, or of a verification of its URL. */
interface FinishedAttempt {
  /** The subscription and the delivery when the attempt began. */
  readonly subscription: Subscription
  readonly delivery?: Delivery | undefined
  readonly result: AttemptResult
  readonly isEarly: boolean
  readonly verificationJobId?: string | undefined
  /** Why the subscription is disabled if the attempt has failed: no attempt follows. */
  readonly finalReason?: DisabledReason | undefined
}

/** Updates a subscription with the result of an attempt, in a transaction. */
export type ResultRecorder = (finishedAttempt: FinishedAttempt, transaction: Transaction | undefined) => Promise<void>

/** Returns the function that starts and ends the outages of receivers, verifies URLs, and disables subscriptions. */
export function resultRecorder(
  { store, queue, now }: Settings,
  emission: Pick<Emission, 'reportDisabled'>,
  onDisabled: (subscription: Subscription, reason: DisabledReason) => void
): ResultRecorder {
  async function recordSuccess({ subscription, verificationJobId }: FinishedAttempt, transaction: Transaction | undefined) {
    let isVerified = false
    const recovered = (current: Subscription) => {
      if (current.url !== subscription.url || current.verificationJobId !== verificationJobId) return current
      isVerified = verificationJobId !== undefined
      const updated = withFailingSince(current, undefined, now())
      return isVerified ? { ...updated, verificationJobId: undefined } : updated
    }
    await store.changeSubscription(subscription.id, recovered, transaction)
    const receiver = receiverOf(subscription)
    let isOver = false
    const ended = (current: Outage | undefined) => {
      isOver = current !== undefined && (current.isPaused || current.isProbed)
      return undefined
    }
    await store.changeOutage(receiver, ended, transaction)
    // Otherwise each success would start a delivery again that alone fails.
    if (isVerified || isOver) await enqueueWake(queue, receiver, transaction)
  }

  async function recordFailure({ subscription, result, finalReason }: FinishedAttempt, transaction: Transaction | undefined) {
    let reason: DisabledReason | undefined
    const failed = (current: Subscription) => {
      // The result is about a URL that the owner has replaced meanwhile.
      if (current.url !== subscription.url) return current
      const updated = withFailingSince(current, current.failingSince ?? now(), now())
      if (current.status === 'disabled') return updated
      const { failingSince = now() } = updated
      if (outcomeOf(result) === 'gone') reason = 'gone'
      else reason = now() - failingSince >= disableAfterMs ? 'failing' : finalReason
      return reason === undefined ? updated : disabledSubscription({ ...current, failingSince }, reason, now())
    }
    const changed = await store.changeSubscription(subscription.id, failed, transaction)
    if (changed === undefined || reason === undefined) return
    await emission.reportDisabled(changed, transaction)
    onDisabled(changed, reason)
  }

  async function recordOutage({ subscription, delivery, result, isEarly }: FinishedAttempt, transaction: Transaction | undefined) {
    // The verification of a URL has its own schedule.
    if (delivery === undefined) return
    const receiver = receiverOf(subscription)
    const isTimeout = result.failure === 'TIMEOUT'
    const pauseSeconds = requestedPauseSeconds(result)
    const failure = { startedAt: result.startedAt, now: now(), delivery, isEarly, isTimeout, pauseSeconds }
    let before: Outage | undefined
    const failed = (current: Outage | undefined) => {
      before = current
      return afterFailure(current, receiver, failure)
    }
    const outage = await store.changeOutage(receiver, failed, transaction)
    if (outage === undefined) return
    if (before === undefined) await enqueueProbes(queue, outage, (outage.nextProbeAt - now()) / 1000, transaction)
    else if (isProbe(before, delivery)) await queue.promote(deliveryQueue, [outage.jobId], transaction)
  }

  return async (finishedAttempt, transaction) => {
    if (outcomeOf(finishedAttempt.result) === 'delivered') return recordSuccess(finishedAttempt, transaction)
    await recordFailure(finishedAttempt, transaction)
    await recordOutage(finishedAttempt, transaction)
  }
}
