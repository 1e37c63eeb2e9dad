import type { Handler, Outcome } from '@concordat/work-queue'
import type { VerificationJob } from '../emit/queues.ts'
import { bodyOf, pingEventType } from '../events/event-catalogue.ts'
import type { Settings } from '../options.ts'
import { isFinal } from '../send/attempt-result.ts'
import { retryDelay } from '../send/retry-delay.ts'
import { timeOrderedId } from '../store/time-ordered-id.ts'
import { type DeliveryTools, signedAttempt } from './delivery-worker.ts'

/**
 * Returns the job handler that verifies the URL of a subscription: it sends one signed `webhook.ping`, and retries it on the schedule until the receiver
 * responds with a 2xx. So nobody can direct the events of a service to a receiver that does not expect them.
 */
export function verificationHandler({ store, schedule, now }: Settings, { sender, recordResult }: DeliveryTools): Handler {
  return async ({ id, payload, attempt, signal }): Promise<Outcome> => {
    const { subscriptionId, extraFor } = payload as VerificationJob
    const verificationJobId = extraFor ?? id
    const subscription = await store.subscription(subscriptionId)
    // Another change of the URL has its own job.
    if (subscription?.verificationJobId !== verificationJobId || subscription.status === 'disabled') return { done: true }
    const body = bodyOf(pingEventType, now(), JSON.stringify({ subscriptionId }))
    const result = await signedAttempt(sender, subscription, { id: timeOrderedId(), body, signal, now: now() })
    if (extraFor !== undefined && !isFinal(result)) return { done: true }
    const delay = retryDelay(schedule, attempt, result)
    // Nothing is written, so that the subscription keeps its entity tag.
    if (delay !== undefined) return { retryInSeconds: delay / 1000, error: result.failure ?? result.statusCode }
    const finishedAttempt = { subscription, result, isEarly: false, verificationJobId, finalReason: 'unverified' } as const
    return { done: true, write: async (transaction) => recordResult(finishedAttempt, transaction) }
  }
}
