import { collection } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { contractOf } from '@concordat/plugin-kit/wiring'
import type { VersionClient } from '@concordat/versioning'
import type { FastifyPluginAsync } from 'fastify'

const text = { type: 'string' } as const
// As versioning makes them: `v` and a number, and names of at most 256 characters.
const maxNameLength = 256
const version = { ...text, pattern: '^v[1-9]\\d{0,8}$', maxLength: 10, examples: ['v1'] } as const
// A hundred years, which no store retains.
const maxDays = 36_600
const requests = { type: 'integer', minimum: 1 } as const
const versionClientSchema = {
  title: 'VersionClient',
  description: 'A client application and a version that it uses. Its requests are counted by day.',
  type: 'object',
  required: ['id', 'version', 'client', 'requests', 'lastUsedAt', 'days'],
  properties: {
    id: { ...text, maxLength: version.maxLength + 1 + maxNameLength, examples: ['v1/web-shop'] },
    version,
    client: {
      type: ['string', 'null'],
      maxLength: maxNameLength,
      examples: ['web-shop'],
      description: 'The id of the client application; null for all requests without a known one.'
    },
    requests: { ...requests, description: 'The requests on all days that are retained.' },
    lastUsedAt: { type: 'string', format: 'date-time' },
    days: {
      type: 'array',
      maxItems: maxDays,
      items: { type: 'object', required: ['day', 'requests'], properties: { day: { type: 'string', format: 'date' }, requests } }
    }
  }
} as const

const versionClients = collection<ReturnType<typeof resourceOf>>(versionClientSchema)({
  name: 'version-clients',
  style: 'page',
  id: 'id',
  defaultSort: ['-lastUsedAt'],
  sort: { keys: ['lastUsedAt', 'requests'] },
  filter: { version: ['eq'], lastUsedAt: ['gte', 'lt'] }
})

/**
 * Adds `GET /version-clients`, which lists who uses which version, and on which days, for clients with the permission `version-clients:read`. Register it
 * inside a version. It has no tenant: it is for the operators of the service. Requires the options `stores.versionUsage` and `authentication` of the preset.
 *
 * @example
 * await app.apiVersion(2, async (v2) => {
 *   await v2.register(versionClientRoutes)
 * })
 */
export const versionClientRoutes: FastifyPluginAsync = async (app) => {
  // The first page shows at the start whether anything counts.
  app.addHook('onReady', async () => void (await app.versionClients()))
  app.get(
    '/version-clients',
    {
      // What the counts are about is the service, whose clients are those of all tenants.
      config: {
        permissions: ['version-clients:read'],
        collection: versionClients,
        ...(contractOf(app, 'clients')?.tenantOf && { tenant: 'none' })
      },
      schema: { response: { 200: { type: 'array', items: versionClientSchema } } }
    },
    async (request, reply) => reply.page(runArray((await app.versionClients()).map(resourceOf), request.listQuery(versionClients)))
  )
}

function resourceOf({ lastUsedAt, days, ...client }: VersionClient) {
  const id = client.client === null ? client.version : `${client.version}/${client.client}`
  return { id, ...client, lastUsedAt: new Date(lastUsedAt).toISOString(), days: days.slice(-maxDays) }
}
