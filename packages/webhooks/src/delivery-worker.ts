import type { Handler, Outcome, Transaction } from '@concordat/work-queue'
import { type AttemptResult, outcomeOf } from './attempt-result.ts'
import { afterAttempt, cancelledDelivery, type Delivery, jobIdOf } from './delivery.ts'
import type { Settings } from './options.ts'
import { type DeliveryJob, promoteDeliveries } from './queues.ts'
import type { FinishedAttempt, ResultRecorder } from './result-recorder.ts'
import { withJitter } from './retry-delay.ts'
import type { WebhookSender } from './sender.ts'
import { signedAttempt } from './signed-attempt.ts'
import type { DeliveryToSend } from './store.ts'
import type { Subscription } from './subscription.ts'
import { isHealthy, quietFor, withProbe } from './subscription-health.ts'
import { timeOrderedId } from './time-ordered-id.ts'

/** The dependencies of the worker, in addition to the settings. */
export interface DeliveryTools {
  readonly sender: Pick<WebhookSender, 'send'>
  readonly recordResult: ResultRecorder
  readonly random: () => number
  readonly onFailed: (delivery: Delivery) => void
}

// When the receiver has been verified, the deliveries are sent immediately.
const verificationWaitSeconds = 3600

/**
 * Returns the job handler that attempts a delivery once, if its subscription still exists, is enabled and is not paused, and its owner may still receive
 * the event. The result of the attempt commits together with the end of the job.
 */
export function deliveryHandler(settings: Settings, tools: DeliveryTools): Handler {
  const { store, queue, events, mayReceive, schedule, now } = settings
  const { sender, recordResult, random, onFailed } = tools

  async function attempt(deliveryId: string, signal: AbortSignal): Promise<Outcome> {
    const found = await store.deliveryToSend(deliveryId)
    if (found === undefined || found.delivery.status !== 'pending') return { done: true }
    const { delivery, subscription, body } = found
    if (subscription.status === 'disabled') return cancelled(delivery)
    if (subscription.verificationJobId !== undefined) return postponed(found, verificationWaitSeconds)
    if (!(await isStillAllowed(found))) return cancelled(delivery)
    const { wait, isProbe } = await admissionOf(subscription)
    if (wait > 0) return postponed(found, withJitter(wait, random) / 1000)
    const result = await signedAttempt(sender, { subscription, id: delivery.messageId, body, signal }, now())
    return conclude(delivery, { subscription, isProbe, result })
  }

  // An owner can lose a right between the event and the attempt. The owner's rights do not matter for what is about the subscription itself.
  async function isStillAllowed({ delivery, subscription, body }: DeliveryToSend) {
    const type = delivery.eventType
    if (!Object.hasOwn(events, type)) return true
    const { data } = JSON.parse(body) as { readonly data: unknown }
    return (await mayReceive([subscription], { type, data, transaction: undefined })).length > 0
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

  function cancelled(delivery: Delivery): Outcome {
    return { done: true, write: async (transaction) => store.saveDelivery(cancelledDelivery(delivery, now()), undefined, transaction) }
  }

  /** Returns the outcome that waits for the receiver, unless it has recovered since the subscription was read: then nothing else would end the wait. */
  function postponed({ delivery, subscription }: DeliveryToSend, retryInSeconds: number): Outcome {
    async function write(transaction: Transaction | undefined) {
      let hasRecovered = false
      const unchanged = (current: Subscription) => {
        hasRecovered = current.verificationJobId === undefined && isHealthy(current.health)
        return current
      }
      await store.changeSubscription(subscription.id, unchanged, transaction)
      if (hasRecovered) await promoteDeliveries(queue, subscription, [jobIdOf(delivery)], transaction)
    }
    return { retryInSeconds, write }
  }

  function conclude(delivery: Delivery, finishedAttempt: FinishedAttempt): Outcome {
    const { subscription, result } = finishedAttempt
    const next = afterAttempt(delivery, result, { schedule, random, now: now() })
    const { retryAfterSeconds: _, ...observed } = result
    const record = { id: timeOrderedId(), deliveryId: delivery.id, number: next.attempts, ...observed }
    // The deliveries after a failed one must not overtake it.
    const finalReason = subscription.ordered && next.status === 'failed' ? ('orderBroken' as const) : undefined
    async function write(transaction: Transaction | undefined) {
      // The subscription is locked first, as in a removal: another order of locks could cause a deadlock.
      if (!isUsual(subscription, result)) await recordResult({ ...finishedAttempt, finalReason }, transaction)
      await store.saveDelivery(next, record, transaction)
      if (next.status === 'failed') onFailed(next)
    }
    if (next.nextAttemptAt === undefined) return { done: true, write, mayShare: isUsual(subscription, result) }
    return { retryInSeconds: (next.nextAttemptAt - now()) / 1000, error: result.failure ?? result.statusCode, write }
  }

  return async ({ payload, signal }) => attempt((payload as DeliveryJob).deliveryId, signal)
}

/** Returns whether a healthy receiver accepted the delivery: then the subscription is not written, and so not locked. */
function isUsual({ health }: Subscription, result: AttemptResult) {
  return outcomeOf(result) === 'delivered' && isHealthy(health)
}
