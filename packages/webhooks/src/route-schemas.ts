import type { FastifyRequest, FastifySchema } from 'fastify'
import type { ObjectSchema } from './representation.ts'
import type { RouteSettings } from './route-options.ts'

/** The path parameters of one subscription. */
export const subscriptionParams: ObjectSchema = { type: 'object', properties: { id: { type: 'string', format: 'uuid' } }, required: ['id'] }

/** The parameters of a list, where the routes read it themselves. */
export function listQuery({ ownList }: RouteSettings, more: object = {}): FastifySchema {
  if (!ownList) return {}
  const page = { perPage: { type: 'integer', minimum: 1, maximum: 100, default: 25 }, after: { type: 'string', format: 'uuid' } }
  return { querystring: { type: 'object', properties: { ...page, ...more }, additionalProperties: false } }
}

/** Who asks. Throws where the service does not know: such a route must not be open to everyone. */
export function ownerOf(request: FastifyRequest, { owner }: RouteSettings): string {
  const known = owner(request)
  if (known === undefined || known === '')
    throw new TypeError('webhooks: owner(request) knows nobody. Require authentication on the routes of webhooks.')
  return known
}
