import type { FastifyInstance, FastifyReply } from 'fastify'
import type { DeliveryStatus } from '../store/delivery.ts'
import type { PageSelection } from '../store/store.ts'
import { linkDelivery } from './links.ts'
import { attemptSchema, deliverySchema, showAttempt, showDelivery } from './representation.ts'
import type { RouteSettings } from './route-options.ts'
import { listQuery, ownerOf, subscriptionParams } from './route-schemas.ts'

type One = { Params: { id: string } }
type OneDelivery = { Params: { id: string; deliveryId: string } }

const deliveryParams = {
  ...subscriptionParams,
  properties: { ...subscriptionParams.properties, deliveryId: { type: 'string', format: 'uuid' } },
  required: ['id', 'deliveryId']
}
const pingSchema = {
  type: 'object',
  properties: { messageId: { type: 'string', description: 'The value of the `webhook-id` header of the ping.' } },
  required: ['messageId']
}
const time = { type: 'string', format: 'date-time' }
const rangeSchema = { type: 'object', properties: { since: time, until: time }, required: ['since'], additionalProperties: false }

/** Adds the routes for pings, deliveries, attempts, redeliveries and recoveries. */
export function addDeliveryRoutes(app: FastifyInstance, settings: RouteSettings): void {
  const { path, routeConfig, created, list } = settings
  const { webhooks } = app
  const one = `${path}/:id`
  const oneDelivery = `${one}/deliveries/:deliveryId`

  app.post<One>(
    `${one}/pings`,
    { config: routeConfig('ping'), schema: { params: subscriptionParams, response: { 202: pingSchema } } },
    async (request, reply) => {
      const { id, subscriptionId, messageId } = await webhooks.ping(ownerOf(request, settings), request.params.id)
      return accepted(reply, deliveryPath(subscriptionId, id), { messageId })
    }
  )

  app.get<One>(
    `${one}/deliveries`,
    {
      config: routeConfig('listDeliveries'),
      schema: {
        params: subscriptionParams,
        ...listQuery(settings, { status: deliverySchema.properties.status }),
        response: { 200: { type: 'array', items: deliverySchema } }
      }
    },
    async (request, reply) => {
      const owner = ownerOf(request, settings)
      const { id: parent } = await webhooks.subscription(owner, request.params.id)
      const resources = async (page: PageSelection & { readonly status?: DeliveryStatus | undefined }) =>
        (await webhooks.deliveries(owner, parent, page)).map(showDelivery)
      const count = async (limit: number, status?: DeliveryStatus) => webhooks.count(owner, { subscriptionId: parent, status }, limit)
      return list(request, reply, { operation: 'listDeliveries', parent, resources, count })
    }
  )

  app.get<OneDelivery>(
    oneDelivery,
    { config: routeConfig('readDelivery'), schema: { params: deliveryParams, response: { 200: deliverySchema } } },
    async (request, reply) => {
      const { id, deliveryId } = request.params
      const delivery = await webhooks.delivery(ownerOf(request, settings), id, deliveryId)
      linkDelivery(settings, reply, delivery)
      return showDelivery(delivery)
    }
  )

  app.get<OneDelivery>(
    `${oneDelivery}/attempts`,
    {
      config: routeConfig('listAttempts'),
      schema: { params: deliveryParams, ...listQuery(settings), response: { 200: { type: 'array', items: attemptSchema } } }
    },
    async (request, reply) => {
      const { id, deliveryId } = request.params
      const owner = ownerOf(request, settings)
      const { id: parent } = await webhooks.delivery(owner, id, deliveryId)
      const resources = async (page: PageSelection) => (await webhooks.attempts(owner, id, parent, page)).map(showAttempt)
      const count = async (limit: number) => webhooks.count(owner, { subscriptionId: id, deliveryId: parent }, limit)
      return list(request, reply, { operation: 'listAttempts', parent, resources, count })
    }
  )

  app.post<OneDelivery>(
    `${oneDelivery}/redeliveries`,
    { config: routeConfig('redeliver'), schema: { params: deliveryParams, response: { 202: deliverySchema } } },
    async (request, reply) => {
      const { id, deliveryId } = request.params
      const delivery = await webhooks.redeliver(ownerOf(request, settings), id, deliveryId)
      linkDelivery(settings, reply, delivery)
      return accepted(reply, deliveryPath(id, deliveryId), showDelivery(delivery))
    }
  )

  app.post<One & { Body: { since: string; until?: string | undefined } }>(
    `${one}/recoveries`,
    { config: routeConfig('recover'), schema: { params: subscriptionParams, body: rangeSchema, response: { 202: rangeSchema } } },
    async (request, reply) => {
      const { since, until = new Date(webhooks.now()).toISOString() } = request.body
      await webhooks.recover(ownerOf(request, settings), request.params.id, Date.parse(since), Date.parse(until))
      return accepted(reply, `${path}/${request.params.id}/deliveries`, { since, until })
    }
  )

  /** Responds with 202. Requests to the path show the progress of what was accepted. */
  function accepted(reply: FastifyReply, at: string, resource: Readonly<Record<string, unknown>>) {
    const body = created(reply, at, resource)
    reply.code(202)
    return body
  }

  function deliveryPath(id: string, deliveryId: string) {
    return `${path}/${id}/deliveries/${deliveryId}`
  }
}
