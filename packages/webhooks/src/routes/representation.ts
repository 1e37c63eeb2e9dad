import { secretKeyword } from '@concordat/plugin-kit/json-schema'
import { tenantSchema } from '@concordat/plugin-kit/wiring'
import { messageId, typePattern } from '../events/event-catalogue.ts'
import { maxUrlLength } from '../guard-addresses/callback-url.ts'
import { type Delivery, webhookIdOf } from '../store/delivery.ts'
import { liveKeys, publicKeyOf, type Subscription } from '../store/subscription.ts'
import { maxOwnerLength } from '../subscribe/owner.ts'

export const maxDescriptionLength = 500
export const maxEventTypes = 100
export const maxTypeLength = 600

/** JSON Schema of an object. `title` is its name in API descriptions. */
export interface ObjectSchema {
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly type: 'object'
  readonly properties: Readonly<Record<string, object>>
  readonly required: readonly string[]
}

const id = { type: 'string', format: 'uuid' }
const time = { type: 'string', format: 'date-time' }
const count = { type: 'integer', minimum: 0 }
const eventType = { type: 'string', pattern: typePattern, maxLength: maxTypeLength, examples: ['order.created'] }
const shownOnce = 'It is shown only once: a replay of the response does not have it.'
// At most 64 bytes in base64.
const secret = {
  type: 'string',
  pattern: '^whsec_[A-Za-z0-9+/]{32,86}={0,2}$',
  maxLength: 94,
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  [secretKeyword]: true
}

const publicKey = { type: 'string', pattern: '^whpk_[A-Za-z0-9+/]{43}=$', maxLength: 49 }

const ownerReasons = ['byOwner', 'accessRevoked', 'unverified', 'gone', 'failing', 'orderBroken']

const subscriptionProperties = {
  id,
  url: { type: 'string', format: 'uri', maxLength: maxUrlLength, examples: ['https://hooks.example.com/orders'] },
  eventTypes: { type: 'array', maxItems: maxEventTypes, items: eventType },
  description: { type: 'string', maxLength: maxDescriptionLength, examples: ['Orders of the shop'] },
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
  publicKey: { ...publicKey, description: 'The public key that verifies Ed25519 signatures.' },
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
    owner: {
      type: 'string',
      maxLength: maxOwnerLength,
      description: 'Whose subscription it is.',
      examples: ['0191106c-03c0-76ff-b1de-b7ec6c68a6a1']
    },
    tenant: {
      ...tenantSchema,
      description: 'The tenant whose events it gets, if it has one.',
      examples: ['clinic-7']
    }
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
  properties: { secret: { ...secret, description: `The new secret. ${shownOnce}` }, publicKey, oldKeysEndAt: time },
  required: []
}

/** JSON Schema of a delivery. */
export const deliverySchema: ObjectSchema = {
  title: 'WebhookDelivery',
  type: 'object',
  properties: {
    id,
    messageId: { ...messageId, description: 'The value of the `webhook-id` header, which is the same for every attempt.' },
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
    statusCode: { type: 'integer', minimum: 100, maximum: 999, description: 'The status code of the response.', examples: [204] },
    failure: {
      type: 'string',
      enum: ['URL_REFUSED', 'NO_PUBLIC_ADDRESS', 'CONNECTION_FAILED', 'TLS_FAILED', 'TIMEOUT', 'RESPONSE_INVALID'],
      description: 'The reason why there was no response.'
    }
  },
  required: ['id', 'number', 'startedAt', 'durationMilliseconds']
}

/** JSON Schema of the path parameters of one subscription. */
export const subscriptionParams: ObjectSchema = { type: 'object', properties: { id }, required: ['id'] }

/** Returns a subscription as its owner sees it. Which of two reasons it was is for administrators to see. */
export function showSubscription(subscription: Subscription): Record<string, unknown> {
  const disabledReason = subscription.disabledReason === 'byAdministrator' ? 'accessRevoked' : subscription.disabledReason
  return shown(subscriptionSchema, { ...subscription, disabledReason, publicKey: publicKeyOf(subscription) })
}

/** Returns a subscription as administrators see it. */
export function showManagedSubscription(subscription: Subscription): Record<string, unknown> {
  return shown(managedSubscriptionSchema, { ...subscription, publicKey: publicKeyOf(subscription) })
}

/** Returns the verification key as the responses to a creation and to a rotation show it. */
export function showNewKey(subscription: Subscription, now: number): Record<string, unknown> {
  const publicKey = publicKeyOf(subscription)
  const secret = publicKey === undefined ? subscription.keys[0]?.key : undefined
  return shown(newKeySchema, { secret, publicKey, oldKeysEndAt: liveKeys(subscription, now)[1]?.until })
}

/** Returns a delivery as the owner of its subscription sees it. */
export function showDelivery(delivery: Delivery): Record<string, unknown> {
  return shown(deliverySchema, { ...delivery, messageId: webhookIdOf(delivery) })
}

/** Returns the members that the schema declares, without those that are undefined, and times in ISO 8601. */
export function shown({ properties }: ObjectSchema, values: object): Record<string, unknown> {
  const known: Readonly<Record<string, unknown>> = { ...values }
  const members = Object.entries(properties).filter(([name]) => known[name] !== undefined)
  return Object.fromEntries(
    members.map(([name, schema]) => [
      name,
      'format' in schema && schema.format === time.format ? new Date(known[name] as number).toISOString() : known[name]
    ])
  )
}
