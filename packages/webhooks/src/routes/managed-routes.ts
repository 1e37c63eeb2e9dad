import type { FastifyPluginAsync } from 'fastify'
import type { PageSelection } from '../store/store.ts'
import { type Subscription, versionOf } from '../store/subscription.ts'
import { everyOwner } from '../subscribe/owner.ts'
import { managedSubscriptionSchema, showManagedSubscription } from './representation.ts'
import { type ManagedWebhookRoutesOptions, resolveRouteOptions } from './route-options.ts'
import { listQuery, requireWebhooks, subscriptionParams } from './route-schemas.ts'
import { preconditionsOf } from './subscription-preconditions.ts'

type One = { Params: { id: string } }

const statusSchema = {
  type: 'object',
  properties: { status: managedSubscriptionSchema.properties['status'] },
  required: ['status'],
  additionalProperties: false
}

/**
 * Adds the routes with which administrators list, read, disable, enable and remove the subscriptions of all owners. Everybody who may use the routes is an
 * administrator, so `routeConfig` must require a permission. Register it after the plugin, in the context whose prefix the routes get.
 */
export const managedWebhookRoutes: FastifyPluginAsync<ManagedWebhookRoutesOptions> = async (app, options) => {
  const own = { path: '/managed-webhook-subscriptions', ...options }
  // There is no owner that these routes could be limited to.
  const settings = resolveRouteOptions({ ...own, owner: () => undefined })
  if (typeof options.routeConfig !== 'function') {
    throw new TypeError(
      'webhooks: options.routeConfig of managedWebhookRoutes is missing. Set it to a function that returns the permissions of administrators.'
    )
  }
  requireWebhooks(app, 'managedWebhookRoutes')
  const { path, routeConfig, list, entityTag, link } = settings
  const { webhooks } = app
  const one = `${path}/:id`
  const { validated, checkOf } = preconditionsOf(webhooks, settings, () => everyOwner)

  const resources = async (page: PageSelection) => (await webhooks.subscriptions(everyOwner, page)).map(showManagedSubscription)
  const count = async (limit: number) => webhooks.count(everyOwner, {}, limit)

  app.get(
    path,
    {
      config: routeConfig('listManagedSubscriptions'),
      schema: { ...listQuery(settings), response: { 200: { type: 'array', items: managedSubscriptionSchema } } }
    },
    async (request, reply) => list(request, reply, { operation: 'listManagedSubscriptions', parent: undefined, resources, count })
  )

  app.get<One>(
    one,
    {
      config: validated('readManagedSubscription'),
      schema: { params: subscriptionParams, response: { 200: managedSubscriptionSchema } }
    },
    async ({ params }, reply) => {
      link(reply, 'collection', path, 'GET')
      return showManagedSubscription(await webhooks.subscription(everyOwner, params.id))
    }
  )

  app.patch<One & { Body: Pick<Subscription, 'status'> }>(
    one,
    {
      config: validated('changeManagedSubscription'),
      schema: { params: subscriptionParams, body: statusSchema, response: { 200: managedSubscriptionSchema } }
    },
    async (request, reply) => {
      const changed = await webhooks.change(everyOwner, request.params.id, request.body, checkOf(request))
      entityTag(reply, versionOf(changed))
      link(reply, 'collection', path, 'GET')
      return showManagedSubscription(changed)
    }
  )

  app.delete<One>(
    one,
    {
      config: validated('removeManagedSubscription'),
      schema: { params: subscriptionParams, response: { 204: { type: 'null' } } }
    },
    async (request, reply) => {
      await webhooks.unsubscribe(everyOwner, request.params.id, checkOf(request))
      return reply.code(204).send()
    }
  )
}
