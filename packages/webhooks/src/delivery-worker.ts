import type { Handler, Outcome, Transaction } from '@concordat/work-queue'
import { type AttemptResult, verdictOf } from './attempt-result.ts'
import { afterAttempt, cancelledDelivery, type Delivery } from './delivery.ts'
import type { Emission } from './emission.ts'
import type { Settings } from './options.ts'
import type { DeliveryJob } from './queues.ts'
import { withJitter } from './retry-delay.ts'
import type { WebhookSender } from './sender.ts'
import type { DeliveryToSend } from './store.ts'
import { type DisabledReason, disabledSubscription, liveKeys, type Subscription } from './subscription.ts'
import { afterFailure, healthy, isGivenUp, quietFor, withProbe } from './subscription-health.ts'
import { timeOrderedId } from './time-ordered-id.ts'

/** The dependencies of the worker, in addition to the settings. */
export interface DeliveryTools {
  readonly sender: Pick<WebhookSender, 'send'>
  readonly emission: Pick<Emission, 'reportDisabled'>
  readonly random: () => number
  readonly onDisabled: (subscription: Subscription, reason: DisabledReason) => void
  readonly onFailed: (delivery: Delivery) => void
}

interface Trial {
  readonly delivery: Delivery
  readonly subscription: Subscription
  readonly isProbe: boolean
  readonly result: AttemptResult
}

/**
 * Returns the job handler that attempts a delivery once, if its subscription still exists, is enabled and is not paused, and its owner may still receive
 * the event. The result of
 * the attempt commits together with the end of the job.
 */
export function deliveryHandler(settings: Settings, tools: DeliveryTools): Handler {
  const { store, events, mayReceive, health: limits, schedule, now } = settings
  const { sender, emission, random, onDisabled, onFailed } = tools

  async function attempt(deliveryId: string, signal: AbortSignal): Promise<Outcome> {
    const found = await store.deliveryToSend(deliveryId)
    if (found === undefined || found.delivery.status !== 'pending') return { done: true }
    const { delivery, subscription, body } = found
    if (subscription.status === 'disabled' || !(await isStillAllowed(found))) {
      return { done: true, write: async (transaction) => store.saveDelivery(cancelledDelivery(delivery, now()), undefined, transaction) }
    }
    const { wait, isProbe } = await admissionOf(subscription)
    if (wait > 0) return { retryInSeconds: withJitter(wait, random) / 1000 }
    const keys = liveKeys(subscription, now()).map(({ key }) => key)
    const result = await sender.send({ url: subscription.url, keys, id: delivery.messageId, body }, signal)
    // This process aborted the attempt; the receiver did not fail.
    if (result.failure !== undefined) signal.throwIfAborted()
    return conclude({ delivery, subscription, isProbe, result })
  }

  // An owner can lose a right between the event and the attempt. The owner's rights do not matter for what is about the subscription itself.
  async function isStillAllowed({ delivery, subscription, body }: DeliveryToSend) {
    const type = delivery.eventType
    if (!Object.hasOwn(events, type)) return true
    const { data } = JSON.parse(body) as { readonly data: unknown }
    return mayReceive(subscription, { type, data, transaction: undefined })
  }

  /**
   * Returns how long the delivery must wait, in milliseconds, and whether it is the probe. When the pause of an open breaker has ended, exactly
   * one delivery is sent as the probe.
   */
  async function admissionOf({ id, health }: Subscription) {
    const admission = { wait: quietFor(health, now()), isProbe: false }
    if (admission.wait > 0 || health.breaker === 'closed') return admission
    await store.changeSubscription(id, (current) => {
      admission.wait = quietFor(current.health, now())
      admission.isProbe = admission.wait === 0 && current.health.breaker === 'open'
      return admission.isProbe ? { ...current, health: withProbe(current.health, now()) } : current
    })
    return admission
  }

  function conclude(trial: Trial): Outcome {
    const { delivery, subscription, result } = trial
    const next = afterAttempt(delivery, result, { schedule, random, now: now() })
    const { retryAfterSeconds: _, ...observed } = result
    const record = { id: timeOrderedId(), deliveryId: delivery.id, number: next.attempts, ...observed }
    async function write(transaction: Transaction | undefined) {
      // The subscription is locked first, as in a removal: another order of locks could cause a deadlock.
      await judge(trial, next, transaction)
      await store.saveDelivery(next, record, transaction)
      if (next.status === 'failed') onFailed(next)
    }
    if (next.nextAttemptAt === undefined) return { done: true, write, mayShare: isUsual(subscription, result) }
    return { retryInSeconds: (next.nextAttemptAt - now()) / 1000, error: result.failure ?? result.statusCode, write }
  }

  /** Updates the subscription's health with the result of an attempt. */
  async function judge({ subscription, isProbe, result }: Trial, next: Delivery, transaction: Transaction | undefined) {
    if (isUsual(subscription, result)) return
    const verdict = verdictOf(result)
    if (verdict === 'delivered') {
      await store.changeSubscription(subscription.id, (current) => ({ ...current, health: healthy }), transaction)
      return
    }
    const pauseSeconds = verdict === 'throttled' ? Math.min(result.retryAfterSeconds ?? 0, 86_400) : 0
    let reason: DisabledReason | undefined
    const judged = await store.changeSubscription(
      subscription.id,
      (current) => {
        const health = afterFailure(current.health, { now: now(), isProbe, pauseSeconds }, limits)
        const updated = { ...current, health }
        reason = current.status === 'enabled' ? disablingReason(updated, verdict === 'gone', next) : undefined
        return reason === undefined ? updated : disabledSubscription(updated, reason, now())
      },
      transaction
    )
    if (judged === undefined || reason === undefined) return
    await emission.reportDisabled(judged, transaction)
    onDisabled(judged, reason)
  }

  function disablingReason({ health, ordered }: Subscription, isGone: boolean, next: Delivery): DisabledReason | undefined {
    if (isGone) return 'gone'
    if (isGivenUp(health, now(), limits)) return 'failing'
    // Later deliveries must not overtake this one.
    return ordered && next.status === 'failed' ? 'orderBroken' : undefined
  }

  return async ({ payload, signal }) => attempt((payload as DeliveryJob).deliveryId, signal)
}

/** Returns whether a healthy receiver accepted the delivery: then the subscription is not written, and so not locked. */
function isUsual({ health }: Subscription, result: AttemptResult) {
  return verdictOf(result) === 'delivered' && health.failures === 0 && health.quietUntil === undefined
}
