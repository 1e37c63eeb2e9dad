export { AttemptFailure } from './attempt-failure.ts'
export type { Attempt, Delivery, WebhookMessage } from './delivery.ts'
export type { Emitted } from './emission.ts'
export { webhooksErrors } from './errors.ts'
export type { EventCatalogue, EventType } from './event-catalogue.ts'
export { describeWebhooks } from './event-catalogue.ts'
export { managedWebhookRoutes } from './managed-routes.ts'
export { memoryWebhookStore } from './memory-store.ts'
export type { EmittedEvent, WebhooksOptions } from './options.ts'
export type { Outage, Receiver } from './outage.ts'
export type { OwnerSelection } from './owner.ts'
export { everyOwner } from './owner.ts'
export { default } from './plugin.ts'
export { isPublicAddress } from './public-address.ts'
export { attemptSchema, deliverySchema, managedSubscriptionSchema, subscriptionSchema } from './representation.ts'
export { defaultSchedule } from './retry-delay.ts'
export type {
  ManagedWebhookRoutesOptions,
  ManagingOperation,
  WebhookListInput,
  WebhookOperation,
  WebhookRoutesOptions
} from './route-options.ts'
export { newSecret, newSigningKeyPair } from './secret.ts'
export type { SenderOptions, WebhookSender } from './sender.ts'
export { webhookSender } from './sender.ts'
export { signatureOf } from './signature.ts'
export type {
  CountedChange,
  CountSelection,
  DeliverySelection,
  DeliveryToSend,
  PageSelection,
  SubscriberSelection,
  WebhookStore
} from './store.ts'
export type { NewSubscription, Subscription, SubscriptionChange } from './subscription.ts'
export { webhookRoutes } from './subscription-routes.ts'
export type { CountedList, Webhooks } from './webhooks.ts'
