import type { Collection } from '@concordat/pagination-query'
import type { WebhookOperation } from '@concordat/webhooks'
import type { FastifyContextConfig } from 'fastify'
import type { Settings } from './options.ts'

interface OperationSettings {
  readonly permission: 'read' | 'create' | 'update' | 'delete'
  /** The resource of the permission. That of administrators is another one, so that `webhooks:*` does not include it. @default 'webhooks' */
  readonly resource?: 'managed-webhooks'
  /** The error codes of the operation, in addition to those of the other plugins. */
  readonly errors: readonly string[]
}

const subscriptionNotFound = 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
const subscriptionDisabled = 'WEBHOOK_SUBSCRIPTION_DISABLED'
const changeLimit = 'WEBHOOK_CHANGE_LIMIT'
const inputErrors = ['WEBHOOK_URL_REFUSED', 'WEBHOOK_EVENT_TYPE_UNKNOWN']
const deliveryErrors = [subscriptionNotFound, 'WEBHOOK_DELIVERY_NOT_FOUND']

const resource = 'managed-webhooks'

const operations: Readonly<Record<WebhookOperation, OperationSettings>> = {
  listSubscriptions: { permission: 'read', errors: [] },
  createSubscription: { permission: 'create', errors: [...inputErrors, 'WEBHOOK_SUBSCRIPTION_LIMIT', changeLimit] },
  readSubscription: { permission: 'read', errors: [subscriptionNotFound] },
  changeSubscription: {
    permission: 'update',
    errors: [subscriptionNotFound, ...inputErrors, changeLimit, 'WEBHOOK_DISABLED_BY_ADMINISTRATOR']
  },
  removeSubscription: { permission: 'delete', errors: [subscriptionNotFound] },
  rotateSecret: { permission: 'update', errors: [subscriptionNotFound] },
  ping: { permission: 'update', errors: [subscriptionNotFound, subscriptionDisabled, changeLimit] },
  listDeliveries: { permission: 'read', errors: [subscriptionNotFound] },
  readDelivery: { permission: 'read', errors: deliveryErrors },
  listAttempts: { permission: 'read', errors: deliveryErrors },
  redeliver: { permission: 'update', errors: [...deliveryErrors, 'WEBHOOK_DELIVERY_PENDING', subscriptionDisabled] },
  recover: { permission: 'update', errors: [subscriptionNotFound, subscriptionDisabled, 'WEBHOOK_RANGE_INVALID'] },
  listManagedSubscriptions: { resource, permission: 'read', errors: [] },
  readManagedSubscription: { resource, permission: 'read', errors: [subscriptionNotFound] },
  changeManagedSubscription: { resource, permission: 'update', errors: [subscriptionNotFound] },
  removeManagedSubscription: { resource, permission: 'delete', errors: [subscriptionNotFound] }
}

const changingOperations: readonly WebhookOperation[] = [
  'changeSubscription',
  'removeSubscription',
  'changeManagedSubscription',
  'removeManagedSubscription'
]
// They accept a key: without one, a repeated request has its effect twice.
const keyedOperations: readonly WebhookOperation[] = [
  'createSubscription',
  'changeSubscription',
  'rotateSecret',
  'ping',
  'redeliver',
  'recover'
]

/** Returns a function that returns the `config` of a webhook route for the plugins of the preset. */
export function webhookRouteConfig(
  options: Settings,
  collections: Readonly<Partial<Record<WebhookOperation, Collection>>>
): (operation: WebhookOperation) => FastifyContextConfig {
  const { authentication, conditionalCaching, idempotency, errorCatalogue, transactions } = options
  const hasAuthentication = authentication !== false
  return (operation) => {
    const { permission, resource = 'webhooks', errors } = operations[operation]
    const sendsEntityTag = conditionalCaching !== false && operation === 'createSubscription'
    const description = {
      ...(errorCatalogue !== false && { errors: hasAuthentication ? errors : [...errors, 'CLIENT_NOT_IDENTIFIED'] }),
      ...(sendsEntityTag && { headers: { ETag: 'The entity tag of the subscription.' } })
    }
    const collection = options.paginationQuery === false ? undefined : collections[operation]
    const hasFields = options.paginationQuery !== false && operation.startsWith('read')
    const config: object = {
      ...(hasAuthentication && { permissions: [`${resource}:${permission}`] }),
      ...(collection !== undefined && { collection }),
      ...(hasFields && { projection: { id: 'id' } }),
      ...(conditionalCaching !== false && changingOperations.includes(operation) && { requireIfMatch: true }),
      ...(idempotency !== false && { idempotency: hasAuthentication && keyedOperations.includes(operation) ? 'accepted' : 'off' }),
      ...(transactions !== undefined && permission !== 'read' && { transaction: true }),
      openapi: description
    }
    return config
  }
}
