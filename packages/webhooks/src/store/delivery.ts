import { v4 as randomId } from 'uuid'
import { type AttemptResult, outcomeOf } from '../send/attempt-result.ts'
import { retryDelay } from '../send/retry-delay.ts'

/** An event as it was emitted. It never changes. */
export interface WebhookMessage {
  /** `webhook-id`, the same for every subscription and attempt. */
  readonly id: string
  readonly type: string
  /** The time of the event, in milliseconds since the Unix epoch. */
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
  readonly messageId: string
  readonly eventType: string
  readonly status: DeliveryStatus
  /** The number of attempts so far. */
  readonly attempts: number
  /** The number of attempts when the current run of the schedule began: 0, or the number at the last redelivery. */
  readonly roundStart: number
  readonly createdAt: number
  /** While the delivery is pending: the time of the next attempt, unless the receiver is paused. */
  readonly nextAttemptAt?: number | undefined
  readonly endedAt?: number | undefined
}

export type DeliveryStatus =
  /** More attempts follow. */
  | 'pending'
  /** The receiver responded with a 2xx. */
  | 'delivered'
  /** The schedule has no more attempts, or the receiver is gone. */
  | 'failed'
  /** The subscription was disabled before the delivery ended. */
  | 'cancelled'

/** The stored record of an attempt. */
export interface Attempt extends Omit<AttemptResult, 'retryAfterSeconds'> {
  /** The id, a UUID v7. */
  readonly id: string
  readonly deliveryId: string
  /** The number of the attempt, starting at 1. */
  readonly number: number
}

/** Returns the delivery updated with the result of an attempt. The schedule is in seconds. */
export function afterAttempt(
  before: Delivery,
  result: AttemptResult,
  { schedule, random, now }: { schedule: readonly number[]; random: () => number; now: number }
): Delivery {
  const attempts = before.attempts + 1
  const delivery = { ...before, attempts, nextAttemptAt: undefined }
  if (outcomeOf(result) === 'delivered') return { ...delivery, status: 'delivered', endedAt: now }
  const delay = retryDelay(schedule, attempts - before.roundStart, result, random)
  return delay === undefined ? { ...delivery, status: 'failed', endedAt: now } : { ...delivery, nextAttemptAt: now + delay }
}

/** Returns the delivery as cancelled, because its subscription is disabled. */
export function cancelledDelivery(delivery: Delivery, now: number): Delivery {
  return { ...delivery, nextAttemptAt: undefined, status: 'cancelled', endedAt: now }
}

/** Returns the delivery as pending again, with the whole schedule ahead of it. */
export function reopenedDelivery(delivery: Delivery, now: number): Delivery {
  // A new job: the queue may still know the id of the ended one.
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

/** Returns the id of the job that sends the delivery. */
export function jobIdOf({ id, jobId = id }: Delivery): string {
  return jobId
}
