import type { Handler, Outcome, Transaction } from '@concordat/work-queue'
import { type DeliveryJob, promoteDeliveries } from '../emit/queues.ts'
import type { Settings } from '../options.ts'
import { type AttemptResult, isFinal, outcomeOf } from '../send/attempt-result.ts'
import type { WebhookSender } from '../send/sender.ts'
import { afterAttempt, type Delivery, webhookIdOf } from '../store/delivery.ts'
import { isAdmitted, isProbe, receiverOf } from '../store/outage.ts'
import type { DeliveryToSend } from '../store/store.ts'
import { liveKeys, type Subscription } from '../store/subscription.ts'
import { timeOrderedId } from '../store/time-ordered-id.ts'
import type { ResultRecorder } from './result-recorder.ts'

/** The dependencies of the handlers that send requests, in addition to the settings. */
export interface DeliveryTools {
  readonly sender: Pick<WebhookSender, 'send'>
  readonly recordResult: ResultRecorder
  readonly onFailed: (delivery: Delivery) => void
}

/** Makes one attempt, signed with the live keys of the subscription. Rejects if this process aborted it: then the receiver did not fail. */
export async function signedAttempt(
  sender: Pick<WebhookSender, 'send'>,
  subscription: Subscription,
  { id, body, signal, now }: { readonly id: string; readonly body: string; readonly signal: AbortSignal; readonly now: number }
): Promise<AttemptResult> {
  const keys = liveKeys(subscription, now).map(({ key }) => key)
  const result = await sender.send({ url: subscription.url, keys, id, body }, signal)
  if (result.failure !== undefined) signal.throwIfAborted()
  return result
}

// When the receiver has been verified or has recovered, the deliveries that wait are started.
const waitSeconds = 3600
const probeWaitSeconds = 1

/**
 * Returns the job handler that attempts a delivery once, if its subscription still exists and is enabled, its owner may still receive the event, and
 * its receiver is not paused. The result of the attempt commits together with the end of the job.
 */
export function deliveryHandler(settings: Settings, tools: DeliveryTools): Handler {
  const { store, queue, events, mayReceive, schedule, concurrency, now } = settings
  const { sender, recordResult, onFailed } = tools

  // Probes of receivers that hang leave most of the attempts to the others.
  const maxProbes = Math.ceil(concurrency / 4)
  let probes = 0

  async function attempt(deliveryId: string, signal: AbortSignal): Promise<Outcome> {
    const found = await store.deliveryToSend(deliveryId)
    if (found === undefined || found.delivery.status !== 'pending') return { done: true }
    const { delivery, subscription, outage } = found
    if (subscription.status === 'disabled') return cancelled(delivery)
    if (subscription.verificationJobId !== undefined || !isAdmitted(outage, delivery, now())) return postponed(found)
    if (!(await isStillAllowed(found))) return cancelled(delivery)
    if (outage === undefined || !isProbe(outage, delivery)) return conclude(found, await sent(found, signal))
    if (probes >= maxProbes) return { retryInSeconds: probeWaitSeconds }
    probes += 1
    return conclude(found, await sent(found, signal).finally(() => (probes -= 1)))
  }

  async function sent({ delivery, subscription, body }: DeliveryToSend, signal: AbortSignal) {
    return signedAttempt(sender, subscription, { id: webhookIdOf(delivery), body, signal, now: now() })
  }

  // An owner can lose a right between the event and the attempt. The owner's rights do not matter for what is about the subscription itself.
  async function isStillAllowed({ delivery, subscription, body }: DeliveryToSend) {
    const type = delivery.eventType
    if (!Object.hasOwn(events, type)) return true
    const { data } = JSON.parse(body) as { readonly data: unknown }
    return (await mayReceive([subscription], { type, tenant: subscription.tenant, data, transaction: undefined })).length > 0
  }

  function cancelled(delivery: Delivery): Outcome {
    const ended = { ...delivery, nextAttemptAt: undefined, status: 'cancelled', endedAt: now() } as const
    return { done: true, write: async (transaction) => store.saveDelivery(ended, undefined, transaction) }
  }

  /** Returns the outcome that waits for the receiver, unless the wait has ended since the delivery was read: then nothing else would end it. */
  function postponed({ delivery, subscription }: DeliveryToSend): Outcome {
    const mayShare = subscription.verificationJobId === undefined
    async function isReady(transaction: Transaction | undefined) {
      if (mayShare) return isAdmitted(await store.outage(receiverOf(subscription), transaction), delivery, now())
      const current = await store.changeSubscription(subscription.id, (stored) => stored, transaction)
      return current?.verificationJobId === undefined
    }
    async function write(transaction: Transaction | undefined) {
      if (await isReady(transaction)) await promoteDeliveries(queue, subscription, [delivery], transaction)
    }
    return { retryInSeconds: waitSeconds, write, mayShare }
  }

  function conclude({ delivery: before, subscription, outage }: DeliveryToSend, result: AttemptResult): Outcome {
    const isUsual = outcomeOf(result) === 'delivered' && subscription.failingSince === undefined && outage === undefined
    const delivery = afterAttempt(before, result, schedule, now())
    const { retryAfterSeconds: _, ...observed } = result
    const record = { id: timeOrderedId(), deliveryId: delivery.id, number: delivery.attempts, ...observed }
    // A probe does not use up an attempt.
    const isEarly = !isFinal(result) && result.startedAt < (before.nextAttemptAt ?? 0)
    const next = isEarly ? before : delivery
    // The deliveries after a failed one must not overtake it.
    const finalReason = subscription.ordered && next.status === 'failed' ? ('orderBroken' as const) : undefined
    async function write(transaction: Transaction | undefined) {
      // The subscription is locked first, as in a removal: another order of locks could cause a deadlock.
      if (!isUsual) await recordResult({ subscription, delivery: before, result, isEarly, finalReason }, transaction)
      if (!isEarly) await store.saveDelivery(next, record, transaction)
      if (next.status === 'failed') onFailed(next)
    }
    if (next.nextAttemptAt === undefined) return { done: true, write, mayShare: isUsual }
    return { retryInSeconds: (next.nextAttemptAt - now()) / 1000, error: result.failure ?? result.statusCode, write }
  }

  return async ({ payload, signal }) => attempt((payload as DeliveryJob).deliveryId, signal)
}
