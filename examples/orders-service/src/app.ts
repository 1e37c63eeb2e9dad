import conventions, { managedWebhookRoutes, serverOptions, webhookRoutes } from '@concordat/conventions'
import { outageLog } from '@concordat/outage-log'
import { postgresRowErrors } from '@concordat/postgres/rows'
import { postgresStores } from '@concordat/postgres/stores'
import { postgresTransactions } from '@concordat/postgres/unit-of-work'
import signInRoutes, { tokenIssuingErrors } from '@concordat/token-issuing'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import { showProgress } from '../sample/progress.ts'
import { access, audienceOf, subscriberOf } from './access.ts'
import { categories } from './categories/routes.ts'
import { type Configuration, fromVariables } from './configuration.ts'
import { customers } from './customers/routes.ts'
import { openDatabase } from './database/open-database.ts'
import { imageErrors } from './images/errors.ts'
import { images } from './images/routes.ts'
import { orderExportJob } from './order-exports/job.ts'
import { orderExports } from './order-exports/routes.ts'
import { orderBatches } from './orders/batch-routes.ts'
import { orderErrors } from './orders/errors.ts'
import { orderItems } from './orders/item-routes.ts'
import { type OrderRepresentation, ordersOfV1, ordersOfV2 } from './orders/representations.ts'
import { orders } from './orders/routes.ts'
import { productErrors } from './products/errors.ts'
import { products } from './products/routes.ts'
import { openRateLimits } from './rate-limits.ts'
import { users } from './users/routes.ts'
import { sessionsOf } from './users/sessions.ts'
import { representationChangedAt, versions } from './versions.ts'
import { webhooksOf } from './webhooks/events.ts'
import { openWorkQueue } from './work-queue.ts'

/** Builds the whole service on one screen: the database, the conventions, the resources in each version. It does not listen yet. */
export async function buildApp(configuration: Configuration): Promise<FastifyInstance> {
  const { publicUrl, trustProxy, environment } = configuration
  const inProduction = environment === 'production'
  const app = Fastify({
    ...serverOptions({ trustProxy }),
    // The first start creates the tables of the queue, which takes some time in PGlite.
    pluginTimeout: 60_000,
    logger: { level: configuration.logLevel }
  }).withTypeProvider<TypeBoxTypeProvider>()
  const report = outageLog(app.log)
  const onError = (error: unknown) => report(error, 'database')
  const where = configuration.databaseUrl === undefined ? 'DATA_DIR' : 'DATABASE_URL'
  const database = await fromVariables([where], openDatabase(configuration, onError, showProgress))
  app.addHook('onClose', () => database.close())
  const queue = await openWorkQueue(app, database, (error) => report(error, 'queue'))
  const sessions = sessionsOf(configuration, database, onError)
  const rateLimits = await openRateLimits(configuration, (error) => report(error, 'redis'))
  app.addHook('onClose', () => rateLimits.close())

  await app.register(conventions, {
    publicUrl,
    allowedHosts: inProduction ? [new URL(publicUrl as string).host] : [],
    versions,
    paginationQuery: { cursor: { secrets: configuration.cursorSecrets } },
    transportSecurity: { dangerouslyAllowHttp: inProduction ? false : 'loopback' },
    stores: { ...postgresStores(database.postgres), queue },
    transactions: postgresTransactions(database.postgres),
    // A process that receives a stop signal has ten seconds in total.
    jobs: { stopGraceSeconds: 2 },
    webhooks: { ...webhooksOf(database), dangerouslyAllowLoopback: configuration.localWebhooks && 'any-certificate', stopGraceSeconds: 2 },
    // A retry that arrives while the first request still runs, or just after its process was lost, gets the response instead of a 409.
    idempotency: { waitSeconds: 2 },
    conditionalCaching: { representationChangedAt },
    rateLimiting: rateLimits.options,
    // Without Redis, each process counts its own requests.
    health: { required: { database }, optional: rateLimits.stores, drainSeconds: configuration.drainSeconds },
    authentication: { ...access, issuers: [sessions.accessTokens], revocations: sessions.revocations },
    openapi: {
      title: 'Orders service',
      description: "A shop's products, customers and orders. Sign in with a POST to `tokens`, and send the token with every request.",
      license: { name: 'MIT', identifier: 'MIT' },
      reference: inProduction ? false : '/reference'
    },
    errorCatalogue: { include: [tokenIssuingErrors, postgresRowErrors, productErrors, imageErrors, orderErrors] }
  })

  const exportJob = orderExportJob(database)
  await app.apiVersion(1, (v1) => resources(v1, ordersOfV1))
  await app.apiVersion(2, (v2) => resources(v2, ordersOfV2))
  return app

  async function resources(version: typeof app, representation: OrderRepresentation) {
    await version.register(signInRoutes, sessions.routes)
    await version.register(users, { database, issuer: sessions.routes.issuer })
    await version.register(categories, { database })
    await version.register(products, { database })
    await version.register(images, { database })
    await version.register(customers, { database })
    await version.register(orders, { database, representation })
    await version.register(orderItems, { database })
    await version.register(orderBatches)
    await version.register(orderExports, { database, job: exportJob, representation })
    await version.register(webhookRoutes, { owner: subscriberOf, audienceOf })
    await version.register(managedWebhookRoutes)
  }
}
