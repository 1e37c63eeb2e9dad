/** The health of a subscription's receiver. Times are in milliseconds since the Unix epoch. */
export interface SubscriptionHealth {
  /** The number of failed attempts since the last success. */
  readonly failures: number
  /** The time of the first failed attempt since the last success. */
  readonly failingSince?: number | undefined
  /**
   * The state of the circuit breaker; when it is `open`, one attempt is made as a probe after the pause, and the other deliveries wait for its
   * result.
   */
  readonly breaker: 'closed' | 'open'
  /** How many times the breaker has opened since the last success. */
  readonly openings: number
  /** The end of the pause that starts when the breaker opens, when a probe begins, or when the receiver requests a pause. */
  readonly quietUntil?: number | undefined
}

/** The limits after which a receiver is paused, and after which its subscription is disabled. */
export interface HealthLimits {
  /** The number of consecutive failures after which the breaker opens. @default 10 */
  readonly breakerFailures: number
  /** The first pause of the breaker, in seconds. Each following pause is twice as long, up to an hour. @default 60 */
  readonly breakerSeconds: number
  /** The time after which the subscription is disabled if every attempt has failed, in seconds. @default 432000, five days */
  readonly disableAfterSeconds: number
}

/** A failed attempt. */
export interface Failure {
  readonly now: number
  /** Whether the attempt was the probe of an open breaker. */
  readonly isProbe: boolean
  /** Whether the attempt reached its time limit. */
  readonly isTimeout: boolean
  /** The pause that the receiver asked for; 0 for none. */
  readonly pauseSeconds: number
}

/** The health without any failure. */
export const healthy: SubscriptionHealth = { failures: 0, breaker: 'closed', openings: 0 }

export const defaultHealthLimits: HealthLimits = { breakerFailures: 10, breakerSeconds: 60, disableAfterSeconds: 432_000 }

const longestOpeningSeconds = 3600
// A probe without a result after this time was lost with its process.
const probeSeconds = 90

/** Returns whether the last attempt succeeded, or there was none. */
export function isHealthy({ failures, quietUntil }: SubscriptionHealth): boolean {
  return failures === 0 && quietUntil === undefined
}

/** Returns how long a delivery must wait before the next attempt, in milliseconds; 0 means now. */
export function quietFor({ quietUntil = 0 }: SubscriptionHealth, now: number): number {
  return Math.max(0, quietUntil - now)
}

/** Returns the health with the pause ended: if the breaker is open, the next delivery is the probe. */
export function withoutPause(health: SubscriptionHealth, now: number): SubscriptionHealth {
  return quietFor(health, now) > 0 ? { ...health, quietUntil: now } : health
}

/** Returns the health with a pause for other deliveries while a probe is in progress. */
export function withProbe(health: SubscriptionHealth, now: number): SubscriptionHealth {
  return { ...health, quietUntil: now + probeSeconds * 1000 }
}

/** Returns the health after a failed attempt. */
export function afterFailure(
  health: SubscriptionHealth,
  { now, isProbe, isTimeout, pauseSeconds }: Failure,
  limits: HealthLimits
): SubscriptionHealth {
  const failures = health.failures + 1
  const failed = { ...health, failures, failingSince: health.failingSince ?? now }
  // Attempts that were in progress when the breaker opened do not count: only the probe does.
  const pauses = isProbe || (health.breaker === 'closed' && failures >= limits.breakerFailures)
  const openSeconds = pauses ? Math.min(limits.breakerSeconds * 2 ** health.openings, longestOpeningSeconds) : 0
  const requested = now + Math.max(openSeconds, pauseSeconds) * 1000
  // After the probe, its time limit no longer delays the others.
  const quietUntil = isProbe ? requested : Math.max(requested, health.quietUntil ?? 0)
  if (pauses) return { ...failed, quietUntil, breaker: 'open', openings: health.openings + 1 }
  // A receiver that hangs holds each attempt for its whole time limit. So after a timeout, one attempt is made at a time, without a pause.
  return { ...failed, quietUntil, breaker: isTimeout ? 'open' : health.breaker }
}

/** Returns whether every attempt has failed for at least `disableAfterSeconds`. */
export function isGivenUp({ failingSince }: SubscriptionHealth, now: number, { disableAfterSeconds }: HealthLimits): boolean {
  return failingSince !== undefined && now - failingSince >= disableAfterSeconds * 1000
}
