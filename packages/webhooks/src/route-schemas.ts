import type { FastifyRequest, FastifySchema } from 'fastify'
import type { ObjectSchema } from './representation.ts'
import type { RouteSettings } from './route-options.ts'

/** The path parameters of one subscription. */
export const subscriptionParams: ObjectSchema = { type: 'object', properties: { id: { type: 'string', format: 'uuid' } }, required: ['id'] }

/** Returns the query schema for a list, or an empty schema when the option `list` is set. */
export function listQuery({ ownList }: RouteSettings, more: object = {}): FastifySchema {
  if (!ownList) return {}
  const page = { perPage: { type: 'integer', minimum: 1, maximum: 100, default: 25 }, after: { type: 'string', format: 'uuid' } }
  return { querystring: { type: 'object', properties: { ...page, ...more }, additionalProperties: false } }
}

/** Returns the owner of the subscriptions that a request can access. Throws a `TypeError` when there is none: these routes must not be public. */
export function ownerOf(request: FastifyRequest, { owner }: RouteSettings): string {
  const known = owner(request)
  if (known === undefined || known === '')
    throw new TypeError('webhooks: options.owner returned undefined for the request. Require authentication on the webhook routes.')
  return known
}
