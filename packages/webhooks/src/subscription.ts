import { newSecret, newSigningKeyPair, publicKeyOf } from './secret.ts'
import { healthy, type SubscriptionHealth } from './subscription-health.ts'

/** Why a subscription gets nothing. */
export type DisabledReason =
  /** Its owner wished so. */
  | 'byOwner'
  /** The receiver answered 410. */
  | 'gone'
  /** Every attempt failed for five days. */
  | 'failing'
  /** It is ordered, and a delivery that all others wait for was given up. */
  | 'orderBroken'

/** One signing key, with the end of its time once another has replaced it. */
export interface SubscriptionKey {
  /** `whsec_…` or `whsk_…`. */
  readonly key: string
  /** In milliseconds since 1970. */
  readonly until?: number | undefined
}

/** Whoever subscribed to events, and where they want them. Times in milliseconds since 1970. */
export interface Subscription {
  /** A UUID v7. */
  readonly id: string
  /** Who may see and change it, as the option `owner` named them. */
  readonly owner: string
  readonly url: string
  readonly eventTypes: readonly string[]
  readonly description?: string | undefined
  /** The version of the interface whose form its events have. */
  readonly version: number
  /** Deliveries go one after the other, in the order of the events. */
  readonly ordered: boolean
  readonly signature: 'hmac-sha256' | 'ed25519'
  readonly status: 'enabled' | 'disabled'
  readonly disabledReason?: DisabledReason | undefined
  /** The newest first. */
  readonly keys: readonly SubscriptionKey[]
  readonly health: SubscriptionHealth
  readonly createdAt: number
  readonly updatedAt: number
  /** Another one for each change that its owner can see. */
  readonly revision: number
}

/** What an owner says of a new subscription. */
export interface NewSubscription {
  readonly url: string
  readonly eventTypes: readonly string[]
  readonly description?: string | undefined
  /** @default false */
  readonly ordered?: boolean | undefined
  /** @default 'hmac-sha256' */
  readonly signature?: 'hmac-sha256' | 'ed25519' | undefined
}

/** What an owner may change. */
export interface SubscriptionChange {
  readonly url?: string | undefined
  readonly eventTypes?: readonly string[] | undefined
  /** `null` removes it. */
  readonly description?: string | null | undefined
  readonly status?: 'enabled' | 'disabled' | undefined
}

const maximumLiveKeys = 3

/** A subscription that begins. */
export function newSubscription(wish: NewSubscription, about: { id: string; owner: string; version: number; now: number }): Subscription {
  const { url, eventTypes, description, ordered = false, signature = 'hmac-sha256' } = wish
  const { id, owner, version, now } = about
  return {
    id,
    owner,
    url,
    eventTypes: [...new Set(eventTypes)],
    description,
    version,
    ordered,
    signature,
    status: 'enabled',
    keys: [{ key: newKey(signature) }],
    health: healthy,
    createdAt: now,
    updatedAt: now,
    revision: 1
  }
}

/** As its owner changed it. What is enabled begins anew: its past failures are forgotten. */
export function changedSubscription(before: Subscription, change: SubscriptionChange, now: number): Subscription {
  const { url = before.url, eventTypes = before.eventTypes, description = before.description, status = before.status } = change
  const revived = status === 'enabled' && before.status === 'disabled'
  return {
    ...before,
    url,
    eventTypes: [...new Set(eventTypes)],
    description: description ?? undefined,
    status,
    disabledReason: status === 'enabled' ? undefined : (before.disabledReason ?? 'byOwner'),
    // Another address has a health of its own.
    health: revived || url !== before.url ? healthy : before.health,
    updatedAt: now,
    revision: before.revision + 1
  }
}

/** As the service gave it up. */
export function disabledSubscription(before: Subscription, disabledReason: DisabledReason, now: number): Subscription {
  return { ...before, status: 'disabled', disabledReason, updatedAt: now, revision: before.revision + 1 }
}

/** With a new key in front; those before it sign for `graceSeconds` more, and no more than three sign at all. */
export function rotatedSubscription(before: Subscription, graceSeconds: number, now: number): Subscription {
  const end = now + graceSeconds * 1000
  const old = liveKeys(before, now).map(({ key, until = end }) => ({ key, until }))
  const keys = [{ key: newKey(before.signature) }, ...(graceSeconds > 0 ? old : [])].slice(0, maximumLiveKeys)
  return { ...before, keys, updatedAt: now, revision: before.revision + 1 }
}

/** The keys that sign now, the newest first. */
export function liveKeys({ keys }: Subscription, now: number): readonly SubscriptionKey[] {
  return keys.filter(({ until = Infinity }) => until > now)
}

/** What its owner has to know to verify: the secret, which is shown once, or the public key. */
export function verificationKeyOf({ keys: [newest] }: Subscription): string {
  const key = newest?.key ?? ''
  return key.startsWith('whsk_') ? publicKeyOf(key) : key
}

/** For an entity tag: another one for each change that the owner can see. */
export function versionOf({ revision, health }: Subscription): string {
  return `${revision}-${health.failingSince ?? 0}`
}

function newKey(signature: Subscription['signature']) {
  return signature === 'ed25519' ? newSigningKeyPair().privateKey : newSecret()
}
