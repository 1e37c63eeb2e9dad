import { strictEqual } from 'node:assert/strict'
import { v4 as randomId, v7 as uuid } from 'uuid'
import type { Attempt, Delivery, WebhookMessage } from '../store/delivery.ts'
import type { WebhookStore } from '../store/store.ts'
import { newSubscription, type Subscription } from '../store/subscription.ts'

/** Returns the store for one test. */
export type CreateStore = () => WebhookStore | Promise<WebhookStore>

/** The initial state of a test. */
export interface Begun {
  readonly store: WebhookStore
  readonly subscription: Subscription
  readonly deliveries: readonly Delivery[]
}

export const now: number = Date.parse('2026-01-02T03:04:05.678Z')

/** Returns a store with one subscription and one delivery to it for each element of `inputs`. */
export async function beginStore(create: CreateStore, ...inputs: readonly Partial<Delivery>[]): Promise<Begun> {
  const store = await create()
  const subscription = subscriptionOf()
  await store.addSubscription(subscription, 100)
  const deliveries: Delivery[] = []
  for (const input of inputs) {
    const [message, delivery] = messageTo(subscription, input)
    strictEqual(await store.addMessage(message, [delivery]), true)
    deliveries.push(delivery)
  }
  return { store, subscription, deliveries }
}

/** Returns a subscription of a new owner. */
export function subscriptionOf(): Subscription {
  const input = { url: 'https://hooks.example.com/a?b=c', eventTypes: ['order.created', 'order.updated'] }
  return newSubscription(input, { id: uuid(), owner: `owner ${randomId()}`, audience: `audience ${randomId()}`, version: 2, now })
}

/** Returns a message and its delivery to a subscription. */
export function messageTo(subscription: Subscription, input: Partial<Delivery> = {}): [WebhookMessage, Delivery] {
  const message = { id: uuid(), type: 'order.created', timestamp: now, bodies: { [subscription.version]: '{}' } }
  const delivery = { id: uuid(), subscriptionId: subscription.id, messageId: message.id, eventType: message.type, createdAt: now }
  return [
    message,
    { ...delivery, status: 'pending', attempts: 0, roundStart: 0, ...(input.status === undefined && { nextAttemptAt: now }), ...input }
  ]
}

/** Returns an attempt of a delivery. */
export function attemptOf({ id: deliveryId }: Delivery, number: number): Attempt {
  return { id: uuid(), deliveryId, number, startedAt: now + number, durationMilliseconds: 12, statusCode: 503 }
}

/** Returns the value without undefined members, which a store may omit. */
export function present<Value>(value: Value): Value {
  return value === undefined ? value : JSON.parse(JSON.stringify(value))
}
