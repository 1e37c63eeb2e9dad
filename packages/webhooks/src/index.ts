export type { EmittedEvent, WebhooksOptions } from './options.ts'
export { default } from './plugin.ts'
export { attemptSchema, deliverySchema, managedSubscriptionSchema, subscriptionSchema } from './routes/representation.ts'
export type {
  ManagedWebhookRoutesOptions,
  WebhookListInput,
  WebhookOperation,
  WebhookRoutesOptions
} from './routes/route-options.ts'
export { managedWebhookRoutes, webhookRoutes } from './routes/webhook-routes.ts'
export type { WebhookSender } from './send/sender.ts'
export { webhookSender } from './send/sender.ts'
export { newSecret, newSigningKeyPair } from './sign/secret.ts'
export { signatureOf } from './sign/signature.ts'
export type { Attempt, Delivery } from './store/delivery.ts'
export { memoryWebhookStore } from './store/memory-store.ts'
export type { Outage, Receiver } from './store/outage.ts'
export type { CountSelection, DeliverySelection, DeliveryToSend, OwnerFilter, PageSelection, WebhookStore } from './store/store.ts'
export type { Subscription } from './store/subscription.ts'
export { everyOwner } from './subscribe/owner.ts'
export type { Webhooks } from './subscribe/webhooks.ts'
