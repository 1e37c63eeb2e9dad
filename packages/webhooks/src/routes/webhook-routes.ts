import { contractOf } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply } from 'fastify'
import { maxUrlLength } from '../guard-addresses/callback-url.ts'
import { type NewSubscription, type Subscription, versionOf } from '../store/subscription.ts'
import { everyOwner } from '../subscribe/owner.ts'
import { addDeliveryRoutes } from './delivery-routes.ts'
import {
  managedSubscriptionSchema,
  maxDescriptionLength,
  maxEventTypes,
  maxTypeLength,
  newKeySchema,
  showManagedSubscription,
  showNewKey,
  showSubscription,
  subscriptionParams,
  subscriptionSchema,
  subscriptionWithSecretSchema
} from './representation.ts'
import type { ManagedWebhookRoutesOptions, RouteSettings, WebhookRoutesOptions } from './route-options.ts'
import { resolveManagedOptions, resolveRouteOptions, routeOf } from './route-options.ts'
import { addSubscriptionRoutes } from './subscription-routes.ts'

const url = {
  type: 'string',
  maxLength: maxUrlLength,
  description: 'An https URL with a public host name.',
  examples: ['https://hooks.example.com/orders']
}
const description = { type: 'string', maxLength: maxDescriptionLength, examples: ['Orders of the shop'] }

const status = { type: 'string', enum: ['enabled', 'disabled'] }

function bodySchema(properties: object, required: readonly string[] = []) {
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false }
}

function bodySchemas(types: readonly string[]) {
  const eventTypes = {
    type: 'array',
    items: { type: 'string', maxLength: maxTypeLength },
    minItems: 1,
    maxItems: maxEventTypes,
    description: `Any of ${types.map((type) => `\`${type}\``).join(', ')}.`,
    examples: [types.slice(0, 1)]
  }
  const ordered = { type: 'boolean', default: false }
  const signature = { type: 'string', enum: ['hmac-sha256', 'ed25519'], default: 'hmac-sha256' }
  const removable = { ...description, type: ['string', 'null'], description: '`null` removes it.' }
  return {
    added: bodySchema({ url, eventTypes, description, ordered, signature }, ['url', 'eventTypes']),
    changed: bodySchema({ url, eventTypes, description: removable, status })
  }
}

/** Adds the routes with which clients manage their subscriptions (rule W1). Register it after the plugin, in the context whose prefix the routes get. */
export const webhookRoutes: FastifyPluginAsync<WebhookRoutesOptions> = async (app, options) => {
  const settings = resolveRouteOptions(app, options)
  const { added, changed } = bodySchemas(app.webhooks.eventTypes)
  addSubscriptionRoutes(app, settings, {
    name: 'Subscription',
    ownerOf: settings.owner,
    schema: subscriptionSchema,
    show: showSubscription,
    changeSchema: changed,
    addLinks: (reply, subscription) => addLinks(settings, reply, subscription)
  })
  addKeyRoutes(app, settings, added)
  addDeliveryRoutes(app, settings)
}

/**
 * Adds the routes with which administrators list, read, disable, enable and remove the subscriptions of all owners. Everybody who may use them is an
 * administrator, so `routeConfig` must require a permission.
 */
export const managedWebhookRoutes: FastifyPluginAsync<ManagedWebhookRoutesOptions> = async (app, options) => {
  const settings = resolveManagedOptions(app, options)
  addSubscriptionRoutes(app, settings, {
    name: 'ManagedSubscription',
    // Administrators of a tenant see its subscriptions only.
    ownerOf: (request) => selectionOf(contractOf(app, 'clients')?.tenantOf?.(request)),
    schema: managedSubscriptionSchema,
    show: showManagedSubscription,
    changeSchema: bodySchema({ status }, ['status']),
    addLinks: (reply) => settings.link(reply, 'collection', settings.path, 'GET')
  })
}

function selectionOf(tenant: string | undefined) {
  return tenant === undefined ? everyOwner : { tenant }
}

/** Adds the routes that create a subscription and rotate its key: their responses have a secret. */
function addKeyRoutes(app: FastifyInstance, settings: RouteSettings, body: object) {
  const { path, owner, ownerName, tenantOf, version, audienceOf, created, entityTag, link } = settings
  const { webhooks } = app

  const create = routeOf(settings, 'createSubscription', { body }, { 201: subscriptionWithSecretSchema })
  app.post<{ Body: NewSubscription }>(path, create, async (request, reply) => {
    const subscription = await webhooks.subscribe(
      ownerName(request),
      request.body,
      version(request),
      audienceOf(request),
      tenantOf(request)
    )
    reply.header('cache-control', 'no-store')
    entityTag(reply, versionOf(subscription))
    addLinks(settings, reply, subscription)
    const shown = { ...showSubscription(subscription), ...showNewKey(subscription, subscription.createdAt) }
    return created(reply, `${path}/${subscription.id}`, shown)
  })

  const rotate = routeOf(settings, 'rotateSecret', { params: subscriptionParams }, { 201: newKeySchema })
  app.post<{ Params: { id: string } }>(`${path}/:id/secrets`, rotate, async (request, reply) => {
    const subscription = await webhooks.rotateKey(owner(request), request.params.id)
    reply.header('cache-control', 'no-store')
    // A client that gets a replay, which does not have the secret, rotates again with a new key.
    link(reply, 'rotate-secret', `${path}/${subscription.id}/secrets`, 'POST')
    return created(reply, `${path}/${subscription.id}`, showNewKey(subscription, subscription.updatedAt))
  })
}

/** Adds response links to the related resources of a subscription and to the operations on it. */
function addLinks({ path, link }: RouteSettings, reply: FastifyReply, { id, status }: Subscription): void {
  link(reply, 'collection', path, 'GET')
  link(reply, 'deliveries', `${path}/${id}/deliveries`, 'GET')
  link(reply, 'rotate-secret', `${path}/${id}/secrets`, 'POST')
  if (status === 'disabled') return
  link(reply, 'ping', `${path}/${id}/pings`, 'POST')
  link(reply, 'recover', `${path}/${id}/recoveries`, 'POST')
}
