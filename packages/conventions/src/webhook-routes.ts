import { ownerOf } from '@concordat/authentication'
import type { ManagedWebhookRoutesOptions, WebhookRoutesOptions } from '@concordat/webhooks'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import type { Settings } from './options.ts'
import { webhookRouteConfig } from './webhook-operations.ts'

type Routes = {
  readonly webhookRoutes: Partial<WebhookRoutesOptions>
  readonly managedWebhookRoutes: Partial<ManagedWebhookRoutesOptions>
}

type Register = <Name extends keyof Routes>(app: FastifyInstance, name: Name, own: Routes[Name]) => Promise<void>

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
export const webhookRoutes: FastifyPluginAsync<Partial<WebhookRoutesOptions>> = async (app, own) => register(app, 'webhookRoutes', own)

/**
 * Adds the routes with which administrators list, disable, enable and remove the webhook subscriptions of all owners. They require the permissions
 * `managed-webhooks:read`, `managed-webhooks:update` and `managed-webhooks:delete`. Otherwise like {@link webhookRoutes}.
 */
export const managedWebhookRoutes: FastifyPluginAsync<Partial<ManagedWebhookRoutesOptions>> = async (app, own) =>
  register(app, 'managedWebhookRoutes', own)

async function register<Name extends keyof Routes>(app: FastifyInstance, name: Name, own: Routes[Name]) {
  const connected = (app as ConnectedApp)[registerKey]
  if (connected === undefined) throw new TypeError(`conventions: ${name} requires options.webhooks. Set options.webhooks.events.`)
  await connected(app, name, own)
}

/** Stores on the instance what the routes need from the plugins of this preset. */
export function connectWebhookRoutes(app: FastifyInstance, options: Settings): void {
  const { authentication, webhooks } = options
  const hasAuthentication = authentication !== false

  function requireOwners(name: keyof Routes, own: Routes[keyof Routes]) {
    if (name === 'managedWebhookRoutes' && !hasAuthentication)
      throw new TypeError('conventions: managedWebhookRoutes requires authentication, because it gives access to all owners. Set it.')
    if ('owner' in own && hasAuthentication && authentication?.revocations !== undefined && webhooks?.ownersOf === undefined)
      throw new TypeError(
        'conventions: webhookRoutes has its own option owner. Set options.webhooks.ownersOf to a function that returns the owners of a user, so that a revocation disables their subscriptions.'
      )
  }

  const connect: Register = async (instance, name, { routeConfig = () => ({}), ...own }) => {
    requireOwners(name, own)
    const routes = await import('@concordat/webhooks')
    const { sendWebhookList, webhookCollections } = await import('./webhook-lists.ts')
    const config = webhookRouteConfig(options, webhookCollections)
    const ofOwners: Partial<WebhookRoutesOptions> = {
      ...(hasAuthentication && { owner: ownerOf }),
      ...(options.versioning !== false && { version: ({ apiVersion }) => Number(apiVersion.slice(1)) })
    }
    const settings: Partial<WebhookRoutesOptions> = {
      ...(name === 'webhookRoutes' && ofOwners),
      ...(options.paginationQuery !== false && { list: sendWebhookList }),
      ...own,
      routeConfig: (operation) => ({ ...config(operation), ...routeConfig(operation) })
    }
    await instance.register<object>(routes[name] as FastifyPluginAsync<object>, settings)
  }
  app.decorate(registerKey, connect)
}
