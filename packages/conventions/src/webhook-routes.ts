import { ownerOf } from '@concordat/authentication'
import type { WebhookRoutesOptions } from '@concordat/webhooks'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import type { ConventionsOptions } from './options.ts'
import { webhookRouteConfig } from './webhook-operations.ts'

type Register = (app: FastifyInstance, own: Partial<WebhookRoutesOptions>) => Promise<void>

const registerKey: unique symbol = Symbol('concordat.conventions.webhook-routes')

interface ConnectedApp {
  [registerKey]?: Register | undefined
}

/**
 * Adds the routes with which clients manage their webhook subscriptions, connected to the other plugins of the preset. Register it
 * inside a version: its subscriptions receive the events of that version. Requires the option `webhooks` of the preset; without it,
 * throws a `TypeError`. Options set here override those of the preset; `routeConfig` is added to that of the preset.
 *
 * @example
 * await app.apiVersion(1, async (v1) => {
 *   await v1.register(webhookRoutes)
 * })
 */
export const webhookRoutes: FastifyPluginAsync<Partial<WebhookRoutesOptions>> = async (app, own) => {
  const register = (app as ConnectedApp)[registerKey]
  if (register === undefined) throw new TypeError('conventions: webhookRoutes requires options.webhooks. Set options.webhooks.events.')
  await register(app, own)
}

/** Stores on the instance what {@link webhookRoutes} needs from the plugins of this preset. */
export function connectWebhookRoutes(app: FastifyInstance, options: ConventionsOptions): void {
  const register: Register = async (instance, { routeConfig = () => ({}), ...own }) => {
    const { webhookRoutes: routes } = await import('@concordat/webhooks')
    const { sendWebhookList, webhookCollections } = await import('./webhook-lists.ts')
    const config = webhookRouteConfig(options, webhookCollections)
    const settings: Partial<WebhookRoutesOptions> = {
      ...(options.authentication !== false && { owner: ownerOf }),
      ...(options.versioning !== false && { version: ({ apiVersion }) => Number(apiVersion.slice(1)) }),
      ...(options.envelope !== false && {
        created: (reply, path, resource) => reply.created(path, resource),
        link: (reply, relation, path, method) => reply.link(relation, path, method)
      }),
      ...(options.paginationQuery !== false && { list: sendWebhookList }),
      ...(options.conditionalCaching !== false && {
        preconditions: ({ preconditions }) => preconditions,
        entityTag: (reply, version) => reply.entityTag(version)
      }),
      ...own,
      routeConfig: (operation) => ({ ...config(operation), ...routeConfig(operation) })
    }
    await instance.register(routes, settings as WebhookRoutesOptions)
  }
  app.decorate(registerKey, register)
}
