import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify'
import { clientNotIdentified } from '../errors.ts'
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

/** Returns the owner of the subscriptions that a request can access. Throws 400 when there is none. */
export function ownerOf(request: FastifyRequest, { owner, clientHeader }: RouteSettings): string {
  const known = owner(request)
  if (known) return known
  request.log.info('webhooks: options.owner returned no owner for this request. Accept only authenticated clients on the webhook routes.')
  throw clientNotIdentified(clientHeader)
}

/** Throws a `TypeError` if the plugin, which the routes of `name` need, is not registered. */
export function requireWebhooks(app: FastifyInstance, name: string): void {
  if (app.webhooks === undefined)
    throw new TypeError(`webhooks: ${name} requires the plugin @concordat/webhooks. Register @concordat/webhooks before ${name}.`)
}
