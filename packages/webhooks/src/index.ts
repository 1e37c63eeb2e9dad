export type { Emitted } from './emit/emission.ts'
export { webhooksErrors } from './errors.ts'
export type { EventCatalogue, EventType } from './events/event-catalogue.ts'
export { describeWebhooks } from './events/event-catalogue.ts'
export { AttemptFailure } from './guard-addresses/attempt-failure.ts'
export { isPublicAddress } from './guard-addresses/public-address.ts'
export type { EmittedEvent, WebhooksOptions } from './options.ts'
export { default } from './plugin.ts'
export { attemptSchema, deliverySchema, managedSubscriptionSchema, subscriptionSchema } from './routes/representation.ts'
export type {
  ManagedWebhookRoutesOptions,
  ManagingOperation,
  WebhookListInput,
  WebhookOperation,
  WebhookRoutesOptions
} from './routes/route-options.ts'
export { managedWebhookRoutes, webhookRoutes } from './routes/webhook-routes.ts'
export { defaultSchedule } from './send/retry-delay.ts'
export type { SenderOptions, WebhookSender } from './send/sender.ts'
export { webhookSender } from './send/sender.ts'
export { newSecret, newSigningKeyPair } from './sign/secret.ts'
export { signatureOf } from './sign/signature.ts'
export type { Attempt, Delivery, WebhookMessage } from './store/delivery.ts'
export { memoryWebhookStore } from './store/memory-store.ts'
export type { Outage, Receiver } from './store/outage.ts'
export type {
  CountedChange,
  CountSelection,
  DeliverySelection,
  DeliveryToSend,
  PageSelection,
  SubscriberSelection,
  WebhookStore
} from './store/store.ts'
export type { NewSubscription, Subscription, SubscriptionChange } from './store/subscription.ts'
export type { OwnerSelection } from './subscribe/owner.ts'
export { everyOwner } from './subscribe/owner.ts'
export type { CountedList, Webhooks } from './subscribe/webhooks.ts'
