import conventions, {
  auditTrailRoutes,
  managedWebhookRoutes,
  serverOptions,
  versionClientRoutes,
  webhookRoutes
} from '@concordat/conventions'
import { outageLog } from '@concordat/plugin-kit/outage-log'
import { postgresAuditTrailStore } from '@concordat/postgres/audit-trail'
import { postgresFileStore } from '@concordat/postgres/files'
import { postgresRowErrors } from '@concordat/postgres/rows'
import { signIn } from '@concordat/postgres/sign-in'
import { postgresStores } from '@concordat/postgres/stores'
import { postgresTransactions } from '@concordat/postgres/unit-of-work'
import { postgresVersionUsageStore } from '@concordat/postgres/version-usage'
import type { RateLimitStore } from '@concordat/rate-limiting'
import { openRedis } from '@concordat/redis/open'
import { redisRateLimitStore } from '@concordat/redis/rate-limits'
import { openService } from '@concordat/service'
import signInRoutes, { tokenIssuingErrors } from '@concordat/token-issuing'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import { demoUsernames } from '../sample/demo-users.ts'
import { access, audienceOf, backend, keyBytesOf, limitedClientOf, subscriberOf } from './access.ts'
import { categories } from './categories/routes.ts'
import { customers } from './customers/routes.ts'
import { openDatabase } from './database/open-database.ts'
import { imageErrors } from './images/errors.ts'
import { images } from './images/routes.ts'
import { orderExportJob } from './order-exports/job.ts'
import { orderExports } from './order-exports/routes.ts'
import { scheduleOrderSummaries } from './order-summaries/job.ts'
import { orderSummaries } from './order-summaries/routes.ts'
import { orderBatches } from './orders/batch-routes.ts'
import { orderErrors } from './orders/errors.ts'
import { orderItems } from './orders/item-routes.ts'
import { ordersOfV1, ordersOfV2 } from './orders/representations.ts'
import { orders } from './orders/routes.ts'
import { productImportErrors, refusalTexts } from './product-imports/errors.ts'
import { importCleanupJob, productImportJob } from './product-imports/job.ts'
import { productImports } from './product-imports/routes.ts'
import { productErrors } from './products/errors.ts'
import { products } from './products/routes.ts'
import type { Settings } from './settings.ts'
import { users } from './users/routes.ts'
import { representationChangedAt, versions } from './versions.ts'
import { webhooksOf } from './webhooks/events.ts'

// The same in all processes, at any address.
const name = 'orders-service'
// An overloaded process refuses requests also where they are not counted.
const countsNothing: RateLimitStore = { add: () => ({ count: 0, resetMs: 0 }) }

/** Builds the whole service on one screen: the database, the conventions, the resources in each version. It does not listen yet. */
export async function buildApp(settings: Settings): Promise<FastifyInstance> {
  const { publicUrl, allowedHosts, trustProxy, environment, secrets, redisUrl, variables } = settings
  const inProduction = environment === 'production'
  const app = Fastify({
    ...serverOptions({ trustProxy }),
    // The first start creates the tables of the queue, which takes some time in PGlite.
    pluginTimeout: 60_000,
    logger: settings.logger
  }).withTypeProvider<TypeBoxTypeProvider>()
  const report = outageLog(app.log)
  const onError = (error: unknown) => report(error, 'database')

  return openService(app, async (opened) => {
    const database = opened(await openDatabase(settings, onError))
    const queue = opened(await database.openQueue({ onError: (error) => report(error, 'queue') }), (queue) => queue.close(0))
    const redis = redisUrl === undefined ? undefined : opened(await openRedis(redisUrl, { prefix: name, onError: withoutRedis }))
    const { TOKEN_SECRETS: tokenSecrets, REFRESH_SECRETS: refreshSecrets } = secrets
    const session = signIn({ database, name, tokenSecrets, refreshSecrets, users: { roles: 'role' }, onError })

    const files = postgresFileStore(database.postgres)

    await app.register(conventions, {
      publicUrl,
      allowedHosts,
      versions,
      paginationQuery: { cursor: { secrets: secrets.CURSOR_SECRETS } },
      transportSecurity: { dangerouslyAllowHttp: inProduction ? false : 'loopback' },
      stores: {
        ...postgresStores(database.postgres),
        queue,
        files,
        versionUsage: postgresVersionUsageStore(database.postgres),
        auditTrail: postgresAuditTrailStore(database.postgres)
      },
      transactions: postgresTransactions(database.postgres),
      // A process that receives a stop signal has ten seconds in total.
      jobs: { stopGraceSeconds: 2 },
      webhooks: {
        ...webhooksOf(database),
        dangerouslyAllowLoopback: variables.DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS && 'any-certificate',
        stopGraceSeconds: 2
      },
      // A retry that arrives while the first request still runs, or just after its process was lost, gets the response instead of a 409.
      idempotency: { waitSeconds: 2, maxClientBytesFor: keyBytesOf },
      conditionalCaching: { representationChangedAt },
      rateLimiting: {
        store: variables.RATE_LIMIT === 'off' ? countsNothing : redis && redisRateLimitStore(redis.redis, { prefix: name }),
        client: limitedClientOf,
        tiers: { [backend.tier]: backend.requests },
        // A backend sends all its requests from one address.
        addressLimit: { limit: 2 * backend.requests.limit, windowSeconds: backend.requests.windowSeconds }
      },
      telemetry: { prometheus: true, scrapers: variables.METRICS_SCRAPERS },
      health: { required: { database }, optional: { ...(redis && { redis }) }, drainSeconds: settings.drainSeconds },
      authentication: { ...access, issuers: [session.accessTokens], revocations: session.revocations },
      openapi: {
        title: 'Orders service',
        description: "A shop's products, customers and orders. Sign in with a POST to `tokens`, and send the token with every request.",
        license: { name: 'MIT', identifier: 'MIT' },
        // Clients that were made from another description than the released one notice it.
        released: new URL('../released/', import.meta.url),
        reference: inProduction ? false : undefined
      },
      texts: [refusalTexts],
      errorCatalogue: {
        include: [tokenIssuingErrors, postgresRowErrors, productErrors, productImportErrors, imageErrors, orderErrors],
        // The clients of version 1 know only the envelope.
        problemDetails: ['/v2']
      }
    })

    const exportJob = orderExportJob(database)
    const importJob = productImportJob({ app, database, files })
    app.jobs.schedule(importCleanupJob({ database, files }), { name: 'product-import-cleanup', everySeconds: 86_400 })
    scheduleOrderSummaries(app, database)
    for (const [version, representation] of [
      [1, ordersOfV1],
      [2, ordersOfV2]
    ] as const) {
      await app.apiVersion(version, async (api) => {
        await api.register(signInRoutes, { ...session.routes, localUsers: demoUsernames })
        await api.register(users, { database, issuer: session.issuer })
        await api.register(categories, { database })
        await api.register(products, { database, version })
        await api.register(images, { database })
        await api.register(customers, { database })
        await api.register(orders, { database, representation })
        await api.register(orderItems, { database })
        await api.register(orderBatches)
        await api.register(orderExports, { database, job: exportJob, representation })
        if (version > 1) {
          await api.register(productImports, { database, files, job: importJob })
          await api.register(orderSummaries, { database })
        }
        await api.register(webhookRoutes, { owner: subscriberOf, audienceOf })
        for (const routes of [managedWebhookRoutes, versionClientRoutes, auditTrailRoutes]) await api.register(routes)
      })
    }
  })

  function withoutRedis(error: unknown) {
    app.log.warn(error, 'Redis is not available. Each process counts its own requests until it is.')
  }
}
