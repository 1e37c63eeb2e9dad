import type { AttemptFailureCode } from './attempt-failure.ts'
import { type AttemptResult, verdictOf } from './attempt-result.ts'
import { retryDelay } from './retry-delay.ts'

/** What became of an event, as it was told once and never changes. */
export interface WebhookMessage {
  /** `webhook-id`, the same for every subscription and attempt. */
  readonly id: string
  readonly type: string
  /** When it happened, in milliseconds since 1970. */
  readonly timestamp: number
  /** The bytes to send, by the version of the subscription. */
  readonly bodies: Readonly<Record<number, string>>
}

/** One event on its way to one subscription. Times in milliseconds since 1970. */
export interface Delivery {
  /** A UUID v7: it says when the delivery was made. */
  readonly id: string
  readonly subscriptionId: string
  readonly messageId: string
  readonly eventType: string
  readonly status: DeliveryStatus
  /** How many attempts there were. */
  readonly attempts: number
  /** How many there were when the present round of the schedule began: 0, or what a redelivery found. */
  readonly roundStart: number
  readonly createdAt: number
  /** While it is pending: when it is tried, unless the receiver is left alone. */
  readonly nextAttemptAt?: number | undefined
  readonly endedAt?: number | undefined
}

export type DeliveryStatus =
  /** It will be tried. */
  | 'pending'
  /** The receiver answered 2xx. */
  | 'delivered'
  /** The schedule is at its end, or the receiver is gone. */
  | 'failed'
  /** The subscription was disabled before. */
  | 'cancelled'

/** What is kept of an attempt. */
export interface Attempt {
  /** A UUID v7. */
  readonly id: string
  readonly deliveryId: string
  /** Counts from 1. */
  readonly number: number
  /** In milliseconds since 1970. */
  readonly startedAt: number
  readonly durationMilliseconds: number
  readonly statusCode?: number | undefined
  readonly failure?: AttemptFailureCode | undefined
}

/** The delivery after an attempt, by a schedule in seconds. */
export function afterAttempt(
  before: Delivery,
  result: AttemptResult,
  { schedule, random, now }: { schedule: readonly number[]; random: () => number; now: number }
): Delivery {
  const attempts = before.attempts + 1
  const delivery = { ...before, attempts, nextAttemptAt: undefined }
  const verdict = verdictOf(result)
  if (verdict === 'delivered') return { ...delivery, status: 'delivered', endedAt: now }
  const delay = verdict === 'gone' ? undefined : retryDelay(schedule, attempts - before.roundStart, result, random)
  return delay === undefined ? { ...delivery, status: 'failed', endedAt: now } : { ...delivery, nextAttemptAt: now + delay }
}

/** The delivery that will not be tried, because its subscription is disabled. */
export function cancelledDelivery(delivery: Delivery, now: number): Delivery {
  return { ...delivery, nextAttemptAt: undefined, status: 'cancelled', endedAt: now }
}

/** The delivery that is tried anew, with the whole schedule before it. */
export function reopenedDelivery(delivery: Delivery, now: number): Delivery {
  return { ...delivery, endedAt: undefined, status: 'pending', roundStart: delivery.attempts, nextAttemptAt: now }
}
