import { v4 as randomId } from 'uuid'
import { withJitter } from '../send/retry-delay.ts'
import type { Delivery } from './delivery.ts'
import { ownerKey, type Subscription } from './subscription.ts'

/** What receives the deliveries to all subscriptions of one owner in a tenant whose URLs have the same origin. */
export interface Receiver {
  readonly owner: string
  readonly origin: string
}

/** The time from the first failed attempt of a receiver to its next success. Times are in milliseconds since the Unix epoch. */
export interface Outage extends Receiver {
  /** The job that starts the probes. */
  readonly jobId: string
  readonly since: number
  /** The number of failed attempts, without the attempts of deliveries that were not due. */
  readonly failures: number
  /** Whether everything except the probe waits: after ten failures, after a timeout, or because the receiver requested a pause. */
  readonly isPaused: boolean
  /** The wait after the last probe, in seconds. */
  readonly waitSeconds: number
  readonly nextProbeAt: number
  /** The probe, from its choice until its result: the id of a delivery, or of an ordered subscription, of which one delivery is sent at a time. */
  readonly probe?: { readonly id: string; readonly chosenAt: number } | undefined
  readonly isProbed: boolean
}

/** A failed attempt. It is early if the delivery was not due: it was the probe, or was made because the receiver had recovered. */
interface Failure {
  readonly startedAt: number
  readonly now: number
  readonly delivery: Delivery
  readonly isEarly: boolean
  readonly isTimeout: boolean
  /** The pause that the receiver asked for; 0 for none. */
  readonly pauseSeconds: number
}

const maxFailures = 10
const firstWaitSeconds = 1
// With the jitter of a fifth, and the time that a probe takes, at most ten seconds, and then five minutes.
const maxWaitSeconds = 7.5
const laterMaxWaitSeconds = 250
const laterMs = 3_600_000

/** Returns a text that only this receiver has. */
export function keyOf({ owner, origin }: Receiver): string {
  return JSON.stringify([owner, origin])
}

export function receiverOf(subscription: Pick<Subscription, 'owner' | 'tenant' | 'url'>): Receiver {
  return { owner: ownerKey(subscription), origin: new URL(subscription.url).origin }
}

export function isAdmitted(outage: Outage | undefined, delivery: Delivery, now: number): boolean {
  return outage === undefined || !outage.isPaused || (isProbe(outage, delivery) && outage.nextProbeAt <= now)
}

export function isProbe({ probe }: Outage, { id, subscriptionId }: Delivery): boolean {
  return probe !== undefined && [id, subscriptionId].includes(probe.id)
}

/** Returns the outage after a failed attempt. The first failure and the probes decide when the next probe is made. */
export function afterFailure(current: Outage | undefined, receiver: Receiver, failure: Failure): Outage {
  const { startedAt, now, isEarly, isTimeout, pauseSeconds } = failure
  const begun = current ?? beginning(receiver, failure)
  const failures = begun.failures + (isEarly ? 0 : 1)
  const isPaused = begun.isPaused || failures >= maxFailures || isTimeout || pauseSeconds > 0
  const requestedAt = now + pauseSeconds * 1000
  if (current !== undefined && !isProbe(current, failure.delivery))
    return { ...current, failures, isPaused, nextProbeAt: Math.max(current.nextProbeAt, requestedAt) }
  const longest = now - begun.since < laterMs ? maxWaitSeconds : laterMaxWaitSeconds
  const waitSeconds = Math.min(2 * begun.waitSeconds, longest)
  const plannedAt = Math.max(startedAt + withJitter(waitSeconds * 1000), now + firstWaitSeconds * 1000)
  return { ...begun, failures, isPaused, waitSeconds, nextProbeAt: Math.max(plannedAt, requestedAt), probe: undefined }
}

function beginning(receiver: Receiver, { now, isEarly }: Failure): Outage {
  // A delivery that still fails when others have succeeded is not repeated every second.
  const waitSeconds = (isEarly ? maxWaitSeconds : firstWaitSeconds) / 2
  return { ...receiver, jobId: randomId(), since: now, failures: 0, isPaused: false, waitSeconds, nextProbeAt: now, isProbed: false }
}
