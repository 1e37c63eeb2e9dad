import type { ErrorList } from '@concordat/api-error'
import type { FastifyInstance } from 'fastify'
import type { ConventionsOptions } from './options.ts'
import { fillWebhookRoutes } from './webhook-routes.ts'

/** The webhooks of a service that has some. */
export interface ServiceWebhooks {
  readonly errors: ErrorList
  readonly register: (app: FastifyInstance) => Promise<void>
  /** What the description of a version says of its events. */
  readonly describe: (app: FastifyInstance) => (version: number) => Readonly<Record<string, object>>
}

/** `undefined` for a service without: it does not load what they stand on, which takes longer than all the rest. */
export async function webhooksOf(options: ConventionsOptions): Promise<ServiceWebhooks | undefined> {
  const { webhooks: settings, stores = {}, now = Date.now } = options
  if (settings === undefined) return undefined
  const { default: webhooks, webhooksErrors } = await import('@concordat/webhooks')
  return {
    errors: webhooksErrors,
    async register(app) {
      const { webhooks: store, queue, unitOfWork } = stores
      await app.register(webhooks, { store, queue, currentTransaction: unitOfWork?.currentTransaction, now, ...settings })
      fillWebhookRoutes(app, options)
    },
    describe: (app) => (version) => app.webhooks.describe(version)
  }
}
