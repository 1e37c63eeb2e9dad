import auditTrail, { type AuditRecord, type AuditTrailStore } from '@concordat/audit-trail'
import { type Collection, collection, type ListQuery } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { runSql } from '@concordat/pagination-query/sql'
import { errorCodeSchema } from '@concordat/plugin-kit/api-error'
import { contractOf, tenantSchema } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'

const storeKey: unique symbol = Symbol('concordat.auditTrail.store')
type Audited = FastifyInstance & { readonly [storeKey]?: AuditTrailStore }

const text = { type: 'string' } as const
// The limits are those of the packages that make the values: audit-trail, authentication, versioning and error-catalogue.
const name = { ...text, maxLength: 256 } as const
const maxPermissions = 32
const auditRecordSchema = {
  title: 'AuditRecord',
  description: 'A request that could change something: who sent it, what it was about, and what happened.',
  type: 'object',
  required: ['id', 'occurredAt', 'requestId', 'permissions', 'method', 'route', 'path', 'outcome', 'status'],
  properties: {
    id: { ...text, format: 'uuid' },
    occurredAt: { ...text, format: 'date-time', description: 'When the response was ready.' },
    requestId: { ...name, examples: ['01a1fd97-079e-71c5-8201-bc8ccba43288'], description: 'The `Request-Id` of the response.' },
    subject: {
      ...name,
      examples: ['018f4e2a-7c1b-7d3e-9a5f-0123456789ab'],
      description: 'The user; absent for anonymous requests, and for clients that act on their own behalf.'
    },
    client: { ...name, examples: ['web-shop'], description: 'The id of the client application, if it is known.' },
    issuer: {
      ...name,
      examples: ['https://tokens.example.com'],
      description: 'The issuer of the credential; absent for anonymous requests.'
    },
    tenant: {
      ...tenantSchema,
      examples: ['clinic-7'],
      description: 'The tenant of the request, if it had one.'
    },
    permissions: {
      type: 'array',
      maxItems: maxPermissions,
      items: { ...text, pattern: '^[\\w.-]+:[\\w.-]+$', maxLength: 128, examples: ['orders:update'] },
      description: 'The permissions that the route requires.'
    },
    method: { ...text, pattern: '^[A-Z-]+$', maxLength: 32, examples: ['PATCH'] },
    route: { ...text, maxLength: 1024, examples: ['/v1/orders/:id'], description: 'The template of the path.' },
    resource: {
      ...text,
      maxLength: 1024,
      examples: ['/orders/:id'],
      description: 'The template without the version, the same in all of them.'
    },
    version: { ...text, pattern: '^v[1-9]\\d{0,8}$', maxLength: 10, examples: ['v1'] },
    path: {
      ...text,
      maxLength: 1024,
      examples: ['/v1/orders/018f4e2a-7c1b-7d3e-9a5f-0123456789ab'],
      description: 'The path with its ids in one spelling, without the query.'
    },
    outcome: {
      ...text,
      enum: ['committed', 'refused', 'failed'],
      description: '`committed`: it succeeded. `refused`: it changed nothing. `failed`: without a transaction, a part of it may remain.'
    },
    status: { type: 'integer', minimum: 100, maximum: 599, examples: [200] },
    errorCode: {
      ...errorCodeSchema,
      description: 'The code of the error, if the response was one.'
    },
    repetitions: {
      type: 'integer',
      format: 'int32',
      minimum: 1,
      description:
        'How many more requests of this client to this route were refused with this error within a minute. They have no records of their own.'
    }
  }
} as const

const auditRecords: Collection<AuditRecord> = collection<AuditRecord>(auditRecordSchema)({
  name: 'audit-records',
  style: 'cursor',
  id: 'id',
  defaultSort: ['-occurredAt'],
  sort: { keys: ['occurredAt'] },
  filter: { subject: ['eq'], client: ['eq'], route: ['eq'], path: ['eq', 'prefix'], outcome: ['eq'], occurredAt: ['gte', 'lt'] }
})

/** Adds the plugin that records requests in the store, for {@link auditTrailRoutes}. */
export async function addAuditTrail(app: FastifyInstance, store: AuditTrailStore): Promise<void> {
  app.decorate(storeKey, store)
  await app.register(auditTrail, { store })
}

/**
 * Adds `GET /audit-records`, which lists who changed what, for clients with the permission `audit:read`. Register it inside a version. Requires the
 * options `stores.auditTrail` and `authentication` of the preset, and secrets for cursors.
 *
 * @example
 * await app.apiVersion(2, async (v2) => {
 *   await v2.register(auditTrailRoutes)
 * })
 */
export const auditTrailRoutes: FastifyPluginAsync = async (app) => {
  const { source } = (app as Audited)[storeKey] ?? {}
  if (source === undefined)
    throw new TypeError(
      'conventions: auditTrailRoutes requires options.stores.auditTrail. Set it, for example to postgresAuditTrailStore(database).'
    )
  const tenantOf = () => contractOf(app, 'clients')?.tenantOf
  app.get(
    '/audit-records',
    {
      config: { permissions: ['audit:read'], collection: auditRecords },
      schema: { response: { 200: { type: 'array', items: auditRecordSchema } } }
    },
    async (request, reply) => {
      const query = ofAllVersions(request.listQuery(auditRecords))
      const tenant = tenantOf()?.(request)
      if (!('client' in source))
        return reply.page(
          runArray(
            source.records().filter((record) => tenant === undefined || record.tenant === tenant),
            query
          )
        )
      // Administrators of a tenant see its records only.
      const where = tenant === undefined ? undefined : { text: 'tenant = $1', values: [tenant] }
      return reply.page(await runSql(source.client, query, { table: source.table, where }))
    }
  )
}

/** A route without a version is that of all versions. */
function ofAllVersions(query: ListQuery<AuditRecord>): ListQuery<AuditRecord> {
  const conditions = query.conditions.map((condition) =>
    condition.field === 'route' && !/^\/v\d+\//.test(String(condition.value)) ? { ...condition, field: 'resource' } : condition
  )
  return { ...query, conditions }
}
