import type { FastifyInstance } from 'fastify'
import type { ConventionsOptions } from './options.ts'
import { connectWebhookRoutes } from './webhook-routes.ts'

/** The webhooks plugin as the preset uses it: its registration and event descriptions. */
export interface ServiceWebhooks {
  readonly register: (app: FastifyInstance) => Promise<void>
  /** Returns a function that returns the webhook events of an API version, for the OpenAPI document. */
  readonly describe: (app: FastifyInstance) => (version: number) => Readonly<Record<string, object>>
}

/**
 * Returns the webhooks of a service, or `undefined` if the option `webhooks` is not set. It then does not load their dependencies, which take the
 * longest to load.
 */
export async function webhooksOf(options: ConventionsOptions): Promise<ServiceWebhooks | undefined> {
  const { webhooks: settings, stores = {}, transactions, now = () => Date.now() } = options
  if (settings === undefined) return undefined
  const { default: webhooks } = await import('@concordat/webhooks')
  return {
    async register(app) {
      const { webhooks: store, queue } = stores
      await app.register(webhooks, { store, queue, currentTransaction: transactions?.currentTransaction, now, ...settings })
      connectWebhookRoutes(app, options)
    },
    describe: (app) => (version) => app.webhooks.describe(version)
  }
}
