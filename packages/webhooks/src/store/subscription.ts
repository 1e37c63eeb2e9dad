import { inTenant } from '@concordat/plugin-kit/wiring'
import { v4 as randomId } from 'uuid'
import { newSecret, newSigningKeyPair, publicPartOf } from '../sign/secret.ts'

/**
 * Why a subscription is disabled: a 410 (`gone`), five days of failures (`failing`), `disableOwner` (`accessRevoked`), an administrator, a URL without a
 * 2xx to its ping (`unverified`), or a failed delivery of an ordered subscription (`orderBroken`).
 */
export type DisabledReason = 'byOwner' | 'gone' | 'failing' | 'accessRevoked' | 'byAdministrator' | 'unverified' | 'orderBroken'

/** A signing key, `whsec_…` or `whsk_…`, until a time in milliseconds since the Unix epoch once another key has replaced it. */
interface SubscriptionKey {
  readonly key: string
  readonly until?: number | undefined
}

/** A subscription to events: its owner, its events and its receiver. Times are in milliseconds since the Unix epoch. */
export interface Subscription {
  /** A UUID v7. */
  readonly id: string
  /** Who may see and change it in its tenant, as the option `owner` returns it. */
  readonly owner: string
  /** The tenant whose events it gets. Absent without tenants, and for a subscription that was created on a route of none. */
  readonly tenant?: string | undefined
  /** As the option `audienceOf` returns it: by default the owner. */
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

/** The properties of a new subscription: by default not ordered, and signed with HMAC-SHA256. */
export type NewSubscription = Pick<Subscription, 'url' | 'eventTypes' | 'description'> &
  Partial<Pick<Subscription, 'ordered' | 'signature'>>

/** The properties that an owner can change. `null` removes the description. */
export interface SubscriptionChange {
  readonly url?: string | undefined
  readonly eventTypes?: readonly string[] | undefined
  readonly description?: string | null | undefined
  readonly status?: 'enabled' | 'disabled' | undefined
}

/** The maximum number of keys that sign at the same time. */
export const maxLiveKeys = 3
const graceMs = 86_400_000

/** Returns the owner of a subscription and its tenant as one text, by which stores and queues know the owner. */
export function ownerKey({ owner, tenant }: Pick<Subscription, 'owner' | 'tenant'>): string {
  return inTenant(owner, tenant)
}

/** Returns a new subscription. */
export function newSubscription(
  input: NewSubscription,
  about: Pick<Subscription, 'id' | 'owner' | 'tenant' | 'audience' | 'version'> & { now: number }
): Subscription {
  const { url, eventTypes, description, ordered = false, signature = 'hmac-sha256' } = input
  const { now, ...given } = about
  return {
    ...given,
    url,
    eventTypes: [...new Set(eventTypes)],
    description,
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

/** Returns the subscription after a change by its owner. The failures so far still count: otherwise each change would let the receiver hang again. */
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

/** Returns whether a change makes the URL be verified again. */
export function startsVerification(before: Subscription, { url = before.url, status = before.status }: SubscriptionChange): boolean {
  return url !== before.url || (status === 'enabled' && before.status === 'disabled')
}

/** Returns the subscription after the service has disabled it. */
export function disabledSubscription(before: Subscription, disabledReason: DisabledReason, now: number): Subscription {
  return { ...before, status: 'disabled', disabledReason, ...nextRevision(before, now) }
}

/** Returns the subscription after a result of its receiver. Its owner does not see each failure. */
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

/** Returns the public key of Ed25519 signatures, and undefined for HMAC. */
export function publicKeyOf({ keys: [newest], signature }: Subscription): string | undefined {
  return signature === 'ed25519' && newest !== undefined ? publicPartOf(newest.key) : undefined
}

/** Returns the version for an entity tag. */
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
