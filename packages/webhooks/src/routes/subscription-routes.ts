import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { maxUrlLength } from '../guard-addresses/callback-url.ts'
import { type NewSubscription, type SubscriptionChange, versionOf } from '../store/subscription.ts'
import { addDeliveryRoutes } from './delivery-routes.ts'
import { linkSubscription } from './links.ts'
import { newKeySchema, showNewKey, showSubscription, subscriptionSchema, subscriptionWithSecretSchema } from './representation.ts'
import { type RouteSettings, resolveRouteOptions, type WebhookRoutesOptions } from './route-options.ts'
import { listQuery, ownerOf, requireWebhooks, subscriptionParams } from './route-schemas.ts'
import { preconditionsOf } from './subscription-preconditions.ts'

const url = {
  type: 'string',
  maxLength: maxUrlLength,
  description: 'An https URL with a public host name.',
  examples: ['https://hooks.example.com/orders']
}
const description = { type: 'string', maxLength: 500, examples: ['Orders of the shop'] }

function bodySchemas(types: readonly string[]) {
  const eventTypes = {
    type: 'array',
    items: { type: 'string', maxLength: 600 },
    minItems: 1,
    maxItems: 100,
    description: `Any of ${types.map((type) => `\`${type}\``).join(', ')}.`,
    examples: [types.slice(0, 1)]
  }
  const added = {
    type: 'object',
    properties: {
      url,
      eventTypes,
      description,
      ordered: { type: 'boolean', default: false },
      signature: { type: 'string', enum: ['hmac-sha256', 'ed25519'], default: 'hmac-sha256' }
    },
    required: ['url', 'eventTypes'],
    additionalProperties: false
  }
  const changed = {
    type: 'object',
    properties: {
      url,
      eventTypes,
      description: { ...description, type: ['string', 'null'], description: '`null` removes it.' },
      status: { type: 'string', enum: ['enabled', 'disabled'] }
    },
    additionalProperties: false
  }
  return { added, changed }
}

/**
 * Adds the routes with which clients manage their subscriptions: the collection, each subscription, and its `secrets`, `pings`, `deliveries` (with
 * `attempts` and `redeliveries`) and `recoveries` (rule W1). Register it after the plugin, in the context whose prefix the routes get.
 */
export const webhookRoutes: FastifyPluginAsync<WebhookRoutesOptions> = async (app, options) => {
  const settings = resolveRouteOptions(options)
  requireWebhooks(app, 'webhookRoutes')
  addSubscriptionRoutes(app, settings)
  addDeliveryRoutes(app, settings)
}

type One = { Params: { id: string } }

function addSubscriptionRoutes(app: FastifyInstance, settings: RouteSettings) {
  const { path, version, audienceOf, routeConfig, created, list, entityTag, link } = settings
  const { webhooks } = app
  const one = `${path}/:id`
  const { added, changed } = bodySchemas(webhooks.eventTypes)

  const { validated, checkOf } = preconditionsOf(webhooks, settings, (request) => ownerOf(request, settings))

  app.get(
    path,
    {
      config: routeConfig('listSubscriptions'),
      schema: { ...listQuery(settings), response: { 200: { type: 'array', items: subscriptionSchema } } }
    },
    async (request, reply) => {
      const parent = ownerOf(request, settings)
      const resources = async (page: { limit: number; after?: string | undefined }) =>
        (await webhooks.subscriptions(parent, page)).map(showSubscription)
      const count = async (limit: number) => webhooks.count(parent, {}, limit)
      return list(request, reply, { operation: 'listSubscriptions', parent, resources, count })
    }
  )

  app.post<{ Body: NewSubscription }>(
    path,
    { config: routeConfig('createSubscription'), schema: { body: added, response: { 201: subscriptionWithSecretSchema } } },
    async (request, reply) => {
      const subscription = await webhooks.subscribe(ownerOf(request, settings), request.body, version(request), audienceOf(request))
      reply.header('cache-control', 'no-store')
      entityTag(reply, versionOf(subscription))
      linkSubscription(settings, reply, subscription)
      const shown = { ...showSubscription(subscription), ...showNewKey(subscription, subscription.createdAt) }
      return created(reply, `${path}/${subscription.id}`, shown)
    }
  )

  app.get<One>(
    one,
    {
      config: validated('readSubscription'),
      schema: { params: subscriptionParams, response: { 200: subscriptionSchema } }
    },
    async (request, reply) => {
      const subscription = await webhooks.subscription(ownerOf(request, settings), request.params.id)
      linkSubscription(settings, reply, subscription)
      return showSubscription(subscription)
    }
  )

  app.patch<One & { Body: SubscriptionChange }>(
    one,
    {
      config: validated('changeSubscription'),
      schema: { params: subscriptionParams, body: changed, response: { 200: subscriptionSchema } }
    },
    async (request, reply) => {
      const { params, body } = request
      const subscription = await webhooks.change(ownerOf(request, settings), params.id, body, checkOf(request))
      entityTag(reply, versionOf(subscription))
      linkSubscription(settings, reply, subscription)
      return showSubscription(subscription)
    }
  )

  app.delete<One>(
    one,
    {
      config: validated('removeSubscription'),
      schema: { params: subscriptionParams, response: { 204: { type: 'null' } } }
    },
    async (request, reply) => {
      await webhooks.unsubscribe(ownerOf(request, settings), request.params.id, checkOf(request))
      return reply.code(204).send()
    }
  )

  app.post<One>(
    `${one}/secrets`,
    { config: routeConfig('rotateSecret'), schema: { params: subscriptionParams, response: { 201: newKeySchema } } },
    async (request, reply) => {
      const subscription = await webhooks.rotateKey(ownerOf(request, settings), request.params.id)
      reply.header('cache-control', 'no-store')
      // A client that gets a replay, which does not have the secret, rotates again with a new key.
      link(reply, 'rotate-secret', `${path}/${subscription.id}/secrets`, 'POST')
      return created(reply, `${path}/${subscription.id}`, showNewKey(subscription, subscription.updatedAt))
    }
  )
}
