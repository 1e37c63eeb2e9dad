import type { Collection } from '@concordat/pagination-query'
import type { WebhookOperation } from '@concordat/webhooks'
import type { FastifyContextConfig } from 'fastify'
import type { ConventionsOptions } from './options.ts'

interface Told {
  readonly permission: 'read' | 'create' | 'update' | 'delete'
  /** The error codes of the operation, in addition to those of the other plugins. */
  readonly errors: readonly string[]
}

const unknown = 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
const disabled = 'WEBHOOK_SUBSCRIPTION_DISABLED'
const refused = ['WEBHOOK_URL_REFUSED', 'WEBHOOK_EVENT_TYPE_UNKNOWN']
const unknownDelivery = [unknown, 'WEBHOOK_DELIVERY_NOT_FOUND']

const operations: Readonly<Record<WebhookOperation, Told>> = {
  listSubscriptions: { permission: 'read', errors: [] },
  createSubscription: { permission: 'create', errors: [...refused, 'WEBHOOK_SUBSCRIPTION_LIMIT'] },
  readSubscription: { permission: 'read', errors: [unknown] },
  changeSubscription: { permission: 'update', errors: [unknown, ...refused] },
  removeSubscription: { permission: 'delete', errors: [unknown] },
  rotateSecret: { permission: 'update', errors: [unknown] },
  ping: { permission: 'update', errors: [unknown, disabled] },
  listDeliveries: { permission: 'read', errors: [unknown] },
  readDelivery: { permission: 'read', errors: unknownDelivery },
  listAttempts: { permission: 'read', errors: unknownDelivery },
  redeliver: { permission: 'update', errors: [...unknownDelivery, 'WEBHOOK_DELIVERY_PENDING', disabled] },
  recover: { permission: 'update', errors: [unknown, disabled, 'WEBHOOK_RANGE_INVALID'] }
}

const changes: readonly WebhookOperation[] = ['changeSubscription', 'removeSubscription']
// Without a key, sending one of these twice has its effect twice.
const repeatable: readonly WebhookOperation[] = ['createSubscription', 'rotateSecret', 'ping', 'redeliver', 'recover']

/** Returns a function that returns the `config` of each webhook route, which the plugins of the preset read. */
export function webhookRouteConfig(
  options: ConventionsOptions,
  collections: Readonly<Partial<Record<WebhookOperation, Collection>>>
): (operation: WebhookOperation) => FastifyContextConfig {
  const { authentication, conditionalCaching, idempotency, errorCatalogue, stores } = options
  const identified = authentication !== false
  return (operation) => {
    const { permission, errors } = operations[operation]
    const tagged = conditionalCaching !== false && operation === 'createSubscription'
    const description = {
      ...(errorCatalogue !== false && { errors }),
      ...(tagged && { headers: { ETag: 'The entity tag of the subscription.' } })
    }
    const collection = options.paginationQuery === false ? undefined : collections[operation]
    const config: object = {
      ...(identified && { permissions: [`webhooks:${permission}`] }),
      ...(collection !== undefined && { collection }),
      ...(conditionalCaching !== false && changes.includes(operation) && { requireIfMatch: true }),
      ...(identified && idempotency !== false && repeatable.includes(operation) && { idempotency: 'accepted' }),
      ...(stores?.unitOfWork !== undefined && permission !== 'read' && { transaction: true }),
      openapi: description
    }
    return config
  }
}
