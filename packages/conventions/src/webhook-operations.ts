import type { Collection } from '@concordat/pagination-query'
import type { WebhookOperation } from '@concordat/webhooks'
import type { FastifyContextConfig } from 'fastify'
import type { ConventionsOptions } from './options.ts'

interface OperationSettings {
  readonly permission: 'read' | 'create' | 'update' | 'delete'
  /** The error codes of the operation, in addition to those of the other plugins. */
  readonly errors: readonly string[]
}

const subscriptionNotFound = 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'
const subscriptionDisabled = 'WEBHOOK_SUBSCRIPTION_DISABLED'
const changeLimit = 'WEBHOOK_CHANGE_LIMIT'
const inputErrors = ['WEBHOOK_URL_REFUSED', 'WEBHOOK_EVENT_TYPE_UNKNOWN']
const deliveryErrors = [subscriptionNotFound, 'WEBHOOK_DELIVERY_NOT_FOUND']

const operations: Readonly<Record<WebhookOperation, OperationSettings>> = {
  listSubscriptions: { permission: 'read', errors: [] },
  createSubscription: { permission: 'create', errors: [...inputErrors, 'WEBHOOK_SUBSCRIPTION_LIMIT', changeLimit] },
  readSubscription: { permission: 'read', errors: [subscriptionNotFound] },
  changeSubscription: { permission: 'update', errors: [subscriptionNotFound, ...inputErrors, changeLimit] },
  removeSubscription: { permission: 'delete', errors: [subscriptionNotFound] },
  rotateSecret: { permission: 'update', errors: [subscriptionNotFound] },
  ping: { permission: 'update', errors: [subscriptionNotFound, subscriptionDisabled, changeLimit] },
  listDeliveries: { permission: 'read', errors: [subscriptionNotFound] },
  readDelivery: { permission: 'read', errors: deliveryErrors },
  listAttempts: { permission: 'read', errors: deliveryErrors },
  redeliver: { permission: 'update', errors: [...deliveryErrors, 'WEBHOOK_DELIVERY_PENDING', subscriptionDisabled] },
  recover: { permission: 'update', errors: [subscriptionNotFound, subscriptionDisabled, 'WEBHOOK_RANGE_INVALID'] }
}

const changingOperations: readonly WebhookOperation[] = ['changeSubscription', 'removeSubscription']
// They accept a key: without one, a repeated request has its effect twice.
const keyedOperations: readonly WebhookOperation[] = ['createSubscription', 'rotateSecret', 'ping', 'redeliver', 'recover']

/** Returns a function that returns the `config` of a webhook route for the plugins of the preset. */
export function webhookRouteConfig(
  options: ConventionsOptions,
  collections: Readonly<Partial<Record<WebhookOperation, Collection>>>
): (operation: WebhookOperation) => FastifyContextConfig {
  const { authentication, conditionalCaching, idempotency, errorCatalogue, transactions } = options
  const hasAuthentication = authentication !== false
  return (operation) => {
    const { permission, errors } = operations[operation]
    const sendsEntityTag = conditionalCaching !== false && operation === 'createSubscription'
    const description = {
      ...(errorCatalogue !== false && { errors: hasAuthentication ? errors : [...errors, 'CLIENT_NOT_IDENTIFIED'] }),
      ...(sendsEntityTag && { headers: { ETag: 'The entity tag of the subscription.' } })
    }
    const collection = options.paginationQuery === false ? undefined : collections[operation]
    const hasFields = options.paginationQuery !== false && operation.startsWith('read')
    const config: object = {
      ...(hasAuthentication && { permissions: [`webhooks:${permission}`] }),
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
