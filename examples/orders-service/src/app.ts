import conventions, { serverOptions } from '@concordat/conventions'
import { postgresStores } from '@concordat/postgres/stores'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import { access } from './access.ts'
import { categories } from './categories/routes.ts'
import type { Configuration } from './configuration.ts'
import { customerErrors } from './customers/errors.ts'
import { customers } from './customers/routes.ts'
import { databaseErrors } from './database/errors.ts'
import { openDatabase } from './database/open-database.ts'
import { showProgress } from './database/progress.ts'
import { health } from './health/routes.ts'
import { imageErrors } from './images/errors.ts'
import { images } from './images/routes.ts'
import { orderErrors } from './orders/errors.ts'
import { orderItems } from './orders/item-routes.ts'
import { orders } from './orders/routes.ts'
import { productErrors } from './products/errors.ts'
import { products } from './products/routes.ts'
import { openRateLimits } from './rate-limits.ts'
import { tokens } from './tokens/routes.ts'
import { sessionsOf } from './tokens/sessions.ts'

/** The whole service on one screen: the database, the conventions, the resources. It does not listen yet. */
export async function buildApp(configuration: Configuration): Promise<FastifyInstance> {
  const { publicUrl, trustProxy, environment } = configuration
  const inProduction = environment === 'production'
  const app = Fastify({
    ...serverOptions({ trustProxy }),
    logger: { level: configuration.logLevel }
  }).withTypeProvider<TypeBoxTypeProvider>()
  const onError = (error: unknown) => app.log.error({ err: error }, 'database')
  const database = await openDatabase(configuration, onError, showProgress)
  app.addHook('onClose', () => database.close())
  const sessions = sessionsOf(configuration, database, onError)
  const rateLimits = await openRateLimits(configuration, (error) => app.log.error({ err: error }, 'redis'))
  app.addHook('onClose', () => rateLimits.close())

  await app.register(conventions, {
    publicUrl,
    allowedHosts: inProduction && publicUrl !== undefined ? [new URL(publicUrl).host] : [],
    versions: { 1: { status: 'current' } },
    paginationQuery: { cursor: { secrets: configuration.cursorSecrets } },
    transportSecurity: { dangerouslyAllowHttp: inProduction ? false : 'loopback' },
    stores: postgresStores(database.postgres),
    // A retry that comes while the first request still runs, or its process has just been lost, gets its answer and no 409.
    idempotency: { waitMilliseconds: 2000 },
    rateLimiting: rateLimits.options,
    authentication: { ...access, issuers: [sessions.accessTokens], revocations: sessions.revocations },
    openapi: {
      title: 'Orders service',
      description: "A shop's products, customers and orders. Sign in at `POST /v1/tokens`, and send the token with every request.",
      license: { name: 'MIT', identifier: 'MIT' },
      reference: inProduction ? false : '/reference'
    },
    errorCatalogue: { include: [databaseErrors, productErrors, imageErrors, customerErrors, orderErrors] }
  })

  await app.register(health, { database })
  await app.apiVersion(1, async (v1) => {
    await v1.register(tokens, { sessions })
    await v1.register(categories, { database })
    await v1.register(products, { database })
    await v1.register(images, { database })
    await v1.register(customers, { database })
    await v1.register(orders, { database })
    await v1.register(orderItems, { database })
    // order batches
    // order exports
    // webhook subscriptions
  })
  // version 2
  return app
}
