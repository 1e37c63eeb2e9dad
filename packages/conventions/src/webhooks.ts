import type { FastifyInstance } from 'fastify'
import type { Settings } from './options.ts'
import { connectWebhookRoutes } from './webhook-routes.ts'

/** Registers the webhooks, whose dependencies take the longest to load, so a service without webhooks does not load them. */
export async function addWebhooks(app: FastifyInstance, options: Settings): Promise<void> {
  const {
    webhooks: settings,
    stores: { webhooks: store, queue }
  } = options
  const { default: webhooks } = await import('@concordat/webhooks')
  await app.register(webhooks, { store, queue, ...(settings as NonNullable<typeof settings>) })
  connectWebhookRoutes(app, options)
}
