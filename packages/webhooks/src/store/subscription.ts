import { v4 as randomId } from 'uuid'
import { newSecret, newSigningKeyPair, publicKeyOf } from '../sign/secret.ts'

/** The reason why a subscription is disabled. */
export type DisabledReason =
  /** Its owner disabled it. */
  | 'byOwner'
  /** The receiver responded with 410. */
  | 'gone'
  /** Every attempt failed for five days. */
  | 'failing'
  /** The owner may no longer receive its events: see `disableOwner`. */
  | 'accessRevoked'
  /** An administrator disabled it. Its owner cannot enable it. */
  | 'byAdministrator'
  /** No verification of the URL succeeded: the receiver did not respond to the `webhook.ping` with a 2xx. */
  | 'unverified'
  /** The subscription is ordered, and a delivery that the later deliveries wait for has failed permanently. */
  | 'orderBroken'

/** A signing key, with its end time once another key has replaced it. */
export interface SubscriptionKey {
  /** The key, `whsec_…` or `whsk_…`. */
  readonly key: string
  /** The end time, in milliseconds since the Unix epoch. */
  readonly until?: number | undefined
}

/** A subscription to events: its owner, its events and its receiver. Times are in milliseconds since the Unix epoch. */
export interface Subscription {
  /** The id, a UUID v7. */
  readonly id: string
  /** The owner that may see and change the subscription, as returned by the option `owner`. */
  readonly owner: string
  /** The audience, as returned by the option `audienceOf` of the routes: by default the owner. */
  readonly audience: string
  readonly url: string
  readonly eventTypes: readonly string[]
  readonly description?: string | undefined
  /** The API version that determines the form of its events. */
  readonly version: number
  /** Whether deliveries are sent one after the other, in the order of the events. */
  readonly ordered: boolean
  readonly signature: 'hmac-sha256' | 'ed25519'
  readonly status: 'enabled' | 'disabled'
  readonly disabledReason?: DisabledReason | undefined
  /** The signing keys, newest first. */
  readonly keys: readonly SubscriptionKey[]
  /** The time of the first failed attempt since the last success. */
  readonly failingSince?: number | undefined
  /** The job that verifies the URL; undefined once the receiver has responded with a 2xx. Until then, the deliveries wait. */
  readonly verificationJobId?: string | undefined
  readonly createdAt: number
  /** The time of the last change that the owner can see. It never decreases. */
  readonly updatedAt: number
  /** A number that changes with each change that the owner can see. */
  readonly revision: number
}

/** The properties of a new subscription. */
export interface NewSubscription {
  readonly url: string
  readonly eventTypes: readonly string[]
  readonly description?: string | undefined
  /** Whether deliveries are sent one after the other, in the order of the events. @default false */
  readonly ordered?: boolean | undefined
  /** The kind of signature. @default 'hmac-sha256' */
  readonly signature?: 'hmac-sha256' | 'ed25519' | undefined
}

/** The properties that an owner can change. */
export interface SubscriptionChange {
  readonly url?: string | undefined
  readonly eventTypes?: readonly string[] | undefined
  /** The new description; `null` removes it. */
  readonly description?: string | null | undefined
  readonly status?: 'enabled' | 'disabled' | undefined
}

const maxLiveKeys = 3
const graceMs = 86_400_000

/** Returns a new subscription. */
export function newSubscription(
  input: NewSubscription,
  about: Pick<Subscription, 'id' | 'owner' | 'audience' | 'version'> & { now: number }
): Subscription {
  const { url, eventTypes, description, ordered = false, signature = 'hmac-sha256' } = input
  const { id, owner, audience, version, now } = about
  return {
    id,
    owner,
    audience,
    url,
    eventTypes: [...new Set(eventTypes)],
    description,
    version,
    ordered,
    signature,
    status: 'enabled',
    keys: [{ key: newKey(signature) }],
    verificationJobId: randomId(),
    createdAt: now,
    updatedAt: now,
    revision: 1
  }
}

/**
 * Returns the subscription after a change by its owner. A new URL, and the URL of a subscription that is enabled again, are verified. The failures so far
 * still count until the receiver responds with a 2xx: otherwise each change would let it hang again.
 */
export function changedSubscription(before: Subscription, change: SubscriptionChange, now: number): Subscription {
  const { url = before.url, eventTypes = before.eventTypes, description = before.description, status = before.status } = change
  return {
    ...before,
    url,
    eventTypes: [...new Set(eventTypes)],
    description: description ?? undefined,
    status,
    disabledReason: status === 'enabled' ? undefined : (before.disabledReason ?? 'byOwner'),
    ...(startsVerification(before, change) && { verificationJobId: randomId() }),
    ...nextRevision(before, now)
  }
}

/** Returns whether the URL is verified again after a change: it is another one, or the subscription is enabled again. */
export function startsVerification(before: Subscription, { url = before.url, status = before.status }: SubscriptionChange): boolean {
  return url !== before.url || (status === 'enabled' && before.status === 'disabled')
}

/** Returns the subscription after the service has disabled it. */
export function disabledSubscription(before: Subscription, disabledReason: DisabledReason, now: number): Subscription {
  return { ...before, status: 'disabled', disabledReason, ...nextRevision(before, now) }
}

/** Returns the subscription after a result of its receiver. Its owner sees since when the receiver has failed, but not each failure. */
export function withFailingSince(before: Subscription, failingSince: number | undefined, now: number): Subscription {
  return failingSince === before.failingSince ? before : { ...before, failingSince, ...nextRevision(before, now) }
}

/** Returns the subscription with a new signing key. The old keys sign for another day, and at most three keys sign in total. */
export function rotatedSubscription(before: Subscription, now: number): Subscription {
  const end = now + graceMs
  const old = liveKeys(before, now).map(({ key, until = end }) => ({ key, until }))
  const keys = [{ key: newKey(before.signature) }, ...old].slice(0, maxLiveKeys)
  return { ...before, keys, ...nextRevision(before, now) }
}

/** Returns the keys that have not expired, newest first. */
export function liveKeys({ keys }: Subscription, now: number): readonly SubscriptionKey[] {
  return keys.filter(({ until = Infinity }) => until > now)
}

/** Returns the key that the owner needs to verify signatures: the secret, which is shown once, or the public key. */
export function verificationKeyOf({ keys: [newest] }: Subscription): string {
  const key = newest?.key ?? ''
  return key.startsWith('whsk_') ? publicKeyOf(key) : key
}

/** Returns the version for an entity tag. It differs after each change that the owner can see. */
export function versionOf({ revision }: Subscription): string {
  return String(revision)
}

// The clocks of two processes may differ.
function nextRevision({ updatedAt, revision }: Subscription, now: number) {
  return { updatedAt: Math.max(updatedAt, now), revision: revision + 1 }
}

function newKey(signature: Subscription['signature']) {
  return signature === 'ed25519' ? newSigningKeyPair().privateKey : newSecret()
}
