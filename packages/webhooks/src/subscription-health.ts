/** How the receiver of a subscription has been doing. Times in milliseconds since 1970. */
export interface SubscriptionHealth {
  /** Attempts that failed since the last one that did not. */
  readonly failures: number
  /** When the first of them failed. */
  readonly failingSince?: number | undefined
  /** `open`: after the quiet time, one attempt goes ahead as a probe; the others wait until it is known how it went. */
  readonly breaker: 'closed' | 'open'
  /** How often the breaker has opened since the last success. */
  readonly openings: number
  /** Nothing is sent before: the breaker has opened, a probe is on its way, or the receiver asked for peace. */
  readonly quietUntil?: number | undefined
}

/** When a receiver is left alone, and when it is given up. */
export interface HealthLimits {
  /** So many failures one after another open the breaker. @default 10 */
  readonly breakerFailures: number
  /** For so long at first, twice as long each time after, up to an hour. @default 60 */
  readonly breakerSeconds: number
  /** When every attempt has failed for so long, the subscription is disabled. @default 432000, five days */
  readonly disableAfterSeconds: number
}

/** One attempt that failed. */
export interface Failure {
  readonly now: number
  /** The attempt was the probe of an open breaker. */
  readonly isProbe: boolean
  /** What the receiver asked to be left alone for; 0: nothing. */
  readonly pauseSeconds: number
}

/** Nothing has failed. */
export const healthy: SubscriptionHealth = { failures: 0, breaker: 'closed', openings: 0 }

export const defaultHealthLimits: HealthLimits = { breakerFailures: 10, breakerSeconds: 60, disableAfterSeconds: 432_000 }

const longestOpeningSeconds = 3600
// A probe that was not heard of for so long is lost with its process.
const probeSeconds = 90

/** How long a delivery has to wait before it may be attempted, in milliseconds; 0: now. */
export function quietFor({ quietUntil = 0 }: SubscriptionHealth, now: number): number {
  return Math.max(0, quietUntil - now)
}

/** The health while a probe is on its way: nothing else is sent. */
export function withProbe(health: SubscriptionHealth, now: number): SubscriptionHealth {
  return { ...health, quietUntil: now + probeSeconds * 1000 }
}

/** The health after an attempt that failed. */
export function afterFailure(
  health: SubscriptionHealth,
  { now, isProbe, pauseSeconds }: Failure,
  limits: HealthLimits
): SubscriptionHealth {
  const failures = health.failures + 1
  const failed = { ...health, failures, failingSince: health.failingSince ?? now }
  // What was under way when the breaker opened says nothing new: only the probe counts then.
  const opens = isProbe || (health.breaker === 'closed' && failures >= limits.breakerFailures)
  const openSeconds = opens ? Math.min(limits.breakerSeconds * 2 ** health.openings, longestOpeningSeconds) : 0
  const asked = now + Math.max(openSeconds, pauseSeconds) * 1000
  // A probe that has come back no longer keeps the others waiting.
  const quietUntil = isProbe ? asked : Math.max(asked, health.quietUntil ?? 0)
  return { ...failed, quietUntil, ...(opens && { breaker: 'open', openings: health.openings + 1 }) }
}

/** Whether every attempt has failed for too long. */
export function isGivenUp({ failingSince }: SubscriptionHealth, now: number, { disableAfterSeconds }: HealthLimits): boolean {
  return failingSince !== undefined && now - failingSince >= disableAfterSeconds * 1000
}
