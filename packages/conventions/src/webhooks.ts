import type { FastifyInstance } from 'fastify'
import type { ConventionsOptions } from './options.ts'
import { connectWebhookRoutes } from './webhook-routes.ts'

/** Registers the webhooks, whose dependencies take the longest to load, so a service without webhooks does not load them. */
export async function addWebhooks(app: FastifyInstance, options: ConventionsOptions): Promise<void> {
  const { webhooks: settings, stores: { webhooks: store, queue } = {}, now = () => Date.now() } = options
  const { default: webhooks } = await import('@concordat/webhooks')
  await app.register(webhooks, { store, queue, now, ...(settings as NonNullable<typeof settings>) })
  connectWebhookRoutes(app, options)
}
