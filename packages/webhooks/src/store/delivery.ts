import { v4 as randomId } from 'uuid'
import { type AttemptResult, outcomeOf } from '../send/attempt-result.ts'
import { retryDelay } from '../send/retry-delay.ts'

/** An event as it was emitted, at `timestamp`, in milliseconds since the Unix epoch. Its id is the `webhook-id`. It never changes. */
export interface WebhookMessage {
  readonly id: string
  readonly type: string
  readonly timestamp: number
  /** The request bodies, by the API version of the subscription. */
  readonly bodies: Readonly<Record<number, string>>
}

/** The delivery of one event to one subscription. Times are in milliseconds since the Unix epoch. */
export interface Delivery {
  /** A UUID v7, which contains the creation time of the delivery. */
  readonly id: string
  readonly subscriptionId: string
  /** The job that sends the delivery, if it is not the job with the id of the delivery: after a redelivery. */
  readonly jobId?: string | undefined
  /** The id of the event, in a tenant followed by a line feed and the tenant. */
  readonly messageId: string
  readonly eventType: string
  readonly status: DeliveryStatus
  readonly attempts: number
  /** The number of attempts when the current run of the schedule began: 0, or the number at the last redelivery. */
  readonly roundStart: number
  readonly createdAt: number
  /** While the delivery is pending: the time of the next attempt, unless the receiver is paused. */
  readonly nextAttemptAt?: number | undefined
  readonly endedAt?: number | undefined
}

/**
 * `pending` until an attempt got a 2xx (`delivered`), the schedule has no more or the receiver is gone (`failed`), or the subscription was disabled
 * (`cancelled`).
 */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'cancelled'

/** The stored record of an attempt, with a UUID v7. The first has the number 1. */
export interface Attempt extends Omit<AttemptResult, 'retryAfterSeconds'> {
  readonly id: string
  readonly deliveryId: string
  readonly number: number
}

/** Returns the delivery updated with the result of an attempt. The schedule is in seconds. */
export function afterAttempt(before: Delivery, result: AttemptResult, schedule: readonly number[], now: number): Delivery {
  const attempts = before.attempts + 1
  const delivery = { ...before, attempts, nextAttemptAt: undefined }
  if (outcomeOf(result) === 'delivered') return { ...delivery, status: 'delivered', endedAt: now }
  const delay = retryDelay(schedule, attempts - before.roundStart, result)
  return delay === undefined ? { ...delivery, status: 'failed', endedAt: now } : { ...delivery, nextAttemptAt: now + delay }
}

/** Returns the delivery as pending again, with the whole schedule ahead of it. Its job is new: the queue may still know the id of the ended one. */
export function reopenedDelivery(delivery: Delivery, now: number): Delivery {
  return { ...delivery, endedAt: undefined, status: 'pending', roundStart: delivery.attempts, nextAttemptAt: now, jobId: randomId() }
}

/** Returns whether the first attempt of a pending delivery was made, or is due. */
export function isStarted({ attempts, roundStart, nextAttemptAt = 0 }: Delivery, now: number): boolean {
  return attempts > roundStart || nextAttemptAt <= now
}

/** Returns the pending delivery with its retry due now. The delay before the first attempt stays. */
export function promotedDelivery(delivery: Delivery, now: number): Delivery {
  const { attempts, roundStart, nextAttemptAt = now } = delivery
  return attempts === roundStart || nextAttemptAt <= now ? delivery : { ...delivery, nextAttemptAt: now }
}

/** Returns the `webhook-id` of a delivery: the id of its event without the tenant. */
export function webhookIdOf({ messageId }: Pick<Delivery, 'messageId'>): string {
  return messageId.split('\n', 1)[0] as string
}

/** Returns the id of the job that sends the delivery. */
export function jobIdOf({ id, jobId = id }: Delivery): string {
  return jobId
}
