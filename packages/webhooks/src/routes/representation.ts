import { secretKeyword } from '@concordat/json-schema'
import type { Attempt, Delivery } from '../store/delivery.ts'
import { liveKeys, type Subscription, verificationKeyOf } from '../store/subscription.ts'

/** JSON Schema of an object. */
export interface ObjectSchema {
  /** The name of the schema in API descriptions. */
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly type: 'object'
  readonly properties: Readonly<Record<string, object>>
  readonly required: readonly string[]
}

const id = { type: 'string', format: 'uuid' }
const time = { type: 'string', format: 'date-time' }
const count = { type: 'integer', minimum: 0 }
const eventType = { type: 'string', examples: ['order.created'] }
const shownOnce = 'It is shown only once: a replay of the response does not have it.'
const secret = { type: 'string', examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], [secretKeyword]: true }

const ownerReasons = ['byOwner', 'accessRevoked', 'unverified', 'gone', 'failing', 'orderBroken']

const subscriptionProperties = {
  id,
  url: { type: 'string', format: 'uri', examples: ['https://hooks.example.com/orders'] },
  eventTypes: { type: 'array', items: eventType },
  description: { type: 'string', examples: ['Orders of the shop'] },
  version: {
    type: 'integer',
    minimum: 1,
    description: 'The API version that determines the format of the events: the version in which the subscription was created.'
  },
  ordered: { type: 'boolean', description: 'Deliveries are sent one after the other, in the order of the events.' },
  signature: { type: 'string', enum: ['hmac-sha256', 'ed25519'] },
  status: { type: 'string', enum: ['enabled', 'disabled'] },
  disabledReason: { type: 'string', enum: ownerReasons },
  failingSince: { ...time, description: 'The time of the first failed attempt since the last successful attempt.' },
  publicKey: { type: 'string', description: 'The public key that verifies Ed25519 signatures.' },
  createdAt: time,
  updatedAt: time
}

/** JSON Schema of a subscription as clients see it. */
export const subscriptionSchema: ObjectSchema = {
  title: 'WebhookSubscription',
  type: 'object',
  description: 'A URL to which the service sends events of some types.',
  properties: subscriptionProperties,
  required: ['id', 'url', 'eventTypes', 'version', 'ordered', 'signature', 'status', 'createdAt', 'updatedAt']
}

/** JSON Schema of a subscription as administrators see it. */
export const managedSubscriptionSchema: ObjectSchema = {
  ...subscriptionSchema,
  title: 'ManagedWebhookSubscription',
  properties: {
    ...subscriptionProperties,
    disabledReason: { type: 'string', enum: [...ownerReasons, 'byAdministrator'] },
    owner: { type: 'string', description: 'Whose subscription it is.', examples: ['0191106c-03c0-76ff-b1de-b7ec6c68a6a1'] }
  },
  required: [...subscriptionSchema.required, 'owner']
}

/** JSON Schema of a subscription with its secret, for the response that creates the subscription. */
export const subscriptionWithSecretSchema: ObjectSchema = {
  ...subscriptionSchema,
  title: 'WebhookSubscriptionWithSecret',
  properties: {
    ...subscriptionProperties,
    secret: { ...secret, description: `The secret that verifies HMAC signatures. ${shownOnce}` }
  }
}

/** JSON Schema of the new key in the response to a key rotation. */
export const newKeySchema: ObjectSchema = {
  type: 'object',
  properties: { secret: { ...secret, description: `The new secret. ${shownOnce}` }, publicKey: { type: 'string' }, oldKeysEndAt: time },
  required: []
}

/** JSON Schema of a delivery. */
export const deliverySchema: ObjectSchema = {
  title: 'WebhookDelivery',
  type: 'object',
  properties: {
    id,
    messageId: { type: 'string', description: 'The value of the `webhook-id` header, which is the same for every attempt.' },
    eventType,
    status: { type: 'string', enum: ['pending', 'delivered', 'failed', 'cancelled'] },
    attempts: count,
    createdAt: time,
    nextAttemptAt: time,
    endedAt: time
  },
  required: ['id', 'messageId', 'eventType', 'status', 'attempts', 'createdAt']
}

/** JSON Schema of an attempt. */
export const attemptSchema: ObjectSchema = {
  title: 'WebhookAttempt',
  type: 'object',
  properties: {
    id,
    number: { type: 'integer', minimum: 1 },
    startedAt: time,
    durationMilliseconds: { ...count, examples: [85] },
    statusCode: { type: 'integer', description: 'The status code of the response.', examples: [204] },
    failure: {
      type: 'string',
      enum: ['URL_REFUSED', 'NO_PUBLIC_ADDRESS', 'CONNECTION_FAILED', 'TLS_FAILED', 'TIMEOUT', 'RESPONSE_INVALID'],
      description: 'The reason why there was no response.'
    }
  },
  required: ['id', 'number', 'startedAt', 'durationMilliseconds']
}

/** Returns a subscription as its owner sees it. */
export function showSubscription(subscription: Subscription): Record<string, unknown> {
  const { id, url, eventTypes, description, version, ordered, signature, status, disabledReason, failingSince, createdAt, updatedAt } =
    subscription
  return withoutAbsent({
    id,
    url,
    eventTypes,
    description,
    version,
    ordered,
    signature,
    status,
    // Which of the two it was is for administrators to see.
    disabledReason: disabledReason === 'byAdministrator' ? 'accessRevoked' : disabledReason,
    failingSince: shownTime(failingSince),
    publicKey: signature === 'ed25519' ? verificationKeyOf(subscription) : undefined,
    createdAt: shownTime(createdAt),
    updatedAt: shownTime(updatedAt)
  })
}

/** Returns a subscription as administrators see it. */
export function showManagedSubscription(subscription: Subscription): Record<string, unknown> {
  const { owner, disabledReason } = subscription
  return withoutAbsent({ ...showSubscription(subscription), disabledReason, owner })
}

/** Returns the verification key as the responses to a creation and to a rotation show it. */
export function showNewKey(subscription: Subscription, now: number): Record<string, unknown> {
  const member = subscription.signature === 'ed25519' ? 'publicKey' : 'secret'
  const oldKeysEndAt = shownTime(liveKeys(subscription, now)[1]?.until)
  return withoutAbsent({ [member]: verificationKeyOf(subscription), oldKeysEndAt })
}

/** Returns a delivery as clients see it. */
export function showDelivery({
  id,
  messageId,
  eventType,
  status,
  attempts,
  createdAt,
  nextAttemptAt,
  endedAt
}: Delivery): Record<string, unknown> {
  return withoutAbsent({
    id,
    messageId,
    eventType,
    status,
    attempts,
    createdAt: shownTime(createdAt),
    nextAttemptAt: shownTime(nextAttemptAt),
    endedAt: shownTime(endedAt)
  })
}

/** Returns an attempt as clients see it. */
export function showAttempt({ id, number, startedAt, durationMilliseconds, statusCode, failure }: Attempt): Record<string, unknown> {
  return withoutAbsent({ id, number, startedAt: shownTime(startedAt), durationMilliseconds, statusCode, failure })
}

function shownTime(time: number | undefined) {
  return time === undefined ? undefined : new Date(time).toISOString()
}

function withoutAbsent(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
