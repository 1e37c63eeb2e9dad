import type { Transaction } from '@concordat/work-queue'
import { type AttemptResult, outcomeOf } from './attempt-result.ts'
import type { Emission } from './emission.ts'
import type { Settings } from './options.ts'
import { enqueueRecovery } from './queues.ts'
import { requestedPauseSeconds } from './retry-delay.ts'
import { type DisabledReason, disabledSubscription, type Subscription, withHealth } from './subscription.ts'
import { afterFailure, healthy, isGivenUp, isHealthy } from './subscription-health.ts'

/** The result of one request to the receiver of a subscription. */
export interface FinishedAttempt {
  /** The subscription when the attempt began. */
  readonly subscription: Subscription
  readonly result: AttemptResult
  /** Whether the attempt was the probe of an open breaker. */
  readonly isProbe: boolean
  /** The verification job, if the attempt was a verification of the URL. */
  readonly verificationJobId?: string | undefined
  /** Why the subscription is disabled if the attempt has failed: no attempt follows. */
  readonly finalReason?: DisabledReason | undefined
}

/** Updates a subscription with the result of an attempt, in a transaction. */
export type ResultRecorder = (finishedAttempt: FinishedAttempt, transaction: Transaction | undefined) => Promise<void>

/** The dependencies of a recorder, in addition to the settings. */
export interface RecorderTools {
  readonly emission: Pick<Emission, 'reportDisabled'>
  readonly onDisabled: (subscription: Subscription, reason: DisabledReason) => void
}

/** Creates the function that updates the health of a receiver, verifies its URL, or disables its subscription. */
export function resultRecorder({ store, queue, health: limits, now }: Settings, { emission, onDisabled }: RecorderTools): ResultRecorder {
  async function recordSuccess({ subscription, verificationJobId }: FinishedAttempt, transaction: Transaction | undefined) {
    const { id, owner, url } = subscription
    let hasRecovered = false
    const recovered = (current: Subscription) => {
      const isSame = current.url === url && current.verificationJobId === verificationJobId
      hasRecovered = isSame && (verificationJobId !== undefined || !isHealthy(current.health))
      return hasRecovered ? { ...withHealth(current, healthy, now()), verificationJobId: undefined } : current
    }
    await store.changeSubscription(id, recovered, transaction)
    // The deliveries that failed have delays of minutes or hours, and others wait for the end of a pause.
    if (hasRecovered) await enqueueRecovery(queue, owner, { subscriptionId: id, since: 0, until: Number.MAX_SAFE_INTEGER }, transaction)
  }

  async function recordFailure({ subscription, result, isProbe, finalReason }: FinishedAttempt, transaction: Transaction | undefined) {
    const isTimeout = result.failure === 'TIMEOUT'
    const failure = { now: now(), isProbe, isTimeout, pauseSeconds: requestedPauseSeconds(result) }
    let reason: DisabledReason | undefined
    const changed = await store.changeSubscription(
      subscription.id,
      (current) => {
        // The result is about a URL that the owner has replaced meanwhile.
        if (current.url !== subscription.url) return current
        const health = afterFailure(current.health, failure, limits)
        const updated = withHealth(current, health, now())
        if (current.status === 'disabled') return updated
        if (outcomeOf(result) === 'gone') reason = 'gone'
        else reason = isGivenUp(health, now(), limits) ? 'failing' : finalReason
        return reason === undefined ? updated : disabledSubscription({ ...current, health }, reason, now())
      },
      transaction
    )
    if (changed === undefined || reason === undefined) return
    await emission.reportDisabled(changed, transaction)
    onDisabled(changed, reason)
  }

  return async (finishedAttempt, transaction) => {
    if (outcomeOf(finishedAttempt.result) === 'delivered') await recordSuccess(finishedAttempt, transaction)
    else await recordFailure(finishedAttempt, transaction)
  }
}
