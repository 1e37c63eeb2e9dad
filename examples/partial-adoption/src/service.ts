import type { AuthenticationOptions } from '@concordat/authentication'
import type { IdempotencyStore } from '@concordat/idempotency'
import Fastify, { type FastifyInstance } from 'fastify'
import { adoptAuthentication } from './adopted/authentication.ts'
import { adoptConditionalCaching } from './adopted/conditional-caching.ts'
import { adoptErrorCatalogue } from './adopted/error-catalogue.ts'
import { adoptIdempotency } from './adopted/idempotency.ts'
import { addInvoicePages } from './adopted/pagination-query.ts'
import { adoptRateLimiting } from './adopted/rate-limiting.ts'
import type { Database } from './database.ts'
import { addProducts } from './products.ts'
import { addList, addResource } from './resource.ts'
import { addErrorFormat } from './service-error.ts'

/** The packages that the service can adopt, each alone. */
export const packages = [
  'error-catalogue',
  'idempotency',
  'conditional-caching',
  'pagination-query',
  'rate-limiting',
  'authentication'
] as const

/** The settings of the service. */
export interface Settings {
  readonly database: Database
  /** The packages that are adopted. */
  readonly adopted: readonly (typeof packages)[number][]
  readonly store: IdempotencyStore
  readonly issuers: AuthenticationOptions['issuers']
}

/** Builds the service. Each package is registered in the context of the routes that adopt it, and has no effect outside. */
export async function buildService({ database, adopted, store, issuers }: Settings): Promise<FastifyInstance> {
  const app = Fastify({ bodyLimit: 1000 })
  const adopts = (name: (typeof packages)[number]) => adopted.includes(name)
  addErrorFormat(app)

  await app.register(
    async (v1) => {
      addList(v1, database, 'orders')
      addResource(v1, database, 'orders')

      await v1.register(async (payments) => {
        if (adopts('idempotency')) await adoptIdempotency(payments, store)
        addList(payments, database, 'payments')
        addResource(payments, database, 'payments', adopts('idempotency') ? { create: { idempotency: 'accepted' } } : {})
      })
      await v1.register(async (products) => {
        if (adopts('conditional-caching')) await adoptConditionalCaching(products)
        addProducts(products, database, adopts('conditional-caching'))
      })
      await v1.register(async (invoices) => {
        if (adopts('pagination-query')) await addInvoicePages(invoices, database)
        else addList(invoices, database, 'invoices')
        addResource(invoices, database, 'invoices')
      })
      await v1.register(async (searches) => {
        if (adopts('rate-limiting')) await adoptRateLimiting(searches)
        addList(searches, database, 'searches')
        addResource(searches, database, 'searches')
      })
    },
    { prefix: '/v1' }
  )

  await app.register(
    async (v2) => {
      if (adopts('error-catalogue')) await adoptErrorCatalogue(v2)
      addList(v2, database, 'parcels')
      addResource(v2, database, 'parcels')
    },
    { prefix: '/v2' }
  )

  await app.register(
    async (admin) => {
      if (adopts('authentication')) await adoptAuthentication(admin, issuers)
      const requires = (permission: string) => (adopts('authentication') ? { permissions: [permission] } : {})
      const read = requires('reports:read')
      addList(admin, database, 'reports', read)
      addResource(admin, database, 'reports', { item: read, others: read, create: requires('reports:create') })
    },
    { prefix: '/admin' }
  )
  return app
}
