import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Delivery, DeliveryStatus } from '../store/delivery.ts'
import type { PageSelection } from '../store/store.ts'
import { attemptSchema, deliverySchema, showAttempt, showDelivery, subscriptionParams } from './representation.ts'
import { listQuery, type RouteSettings } from './route-options.ts'

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
  const { path, owner, routeConfig, created, list } = settings
  const { webhooks } = app
  const one = `${path}/:id`
  const oneDelivery = `${one}/deliveries/:deliveryId`

  app.post<One>(
    `${one}/pings`,
    { config: routeConfig('ping'), schema: { params: subscriptionParams, response: { 202: pingSchema } } },
    async (request, reply) => {
      const { id, subscriptionId, messageId } = await webhooks.ping(owner(request), request.params.id)
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
      const subscriber = owner(request)
      const { id: parent } = await webhooks.subscription(subscriber, request.params.id)
      const resources = async (page: PageSelection & { readonly status?: DeliveryStatus | undefined }) =>
        (await webhooks.deliveries(subscriber, parent, page)).map(showDelivery)
      const count = async (limit: number, status?: DeliveryStatus) => webhooks.count(subscriber, { subscriptionId: parent, status }, limit)
      return list(request, reply, { operation: 'listDeliveries', parent, resources, count })
    }
  )

  app.get<OneDelivery>(
    oneDelivery,
    { config: routeConfig('readDelivery'), schema: { params: deliveryParams, response: { 200: deliverySchema } } },
    async (request, reply) => {
      const { id, deliveryId } = request.params
      const delivery = await webhooks.delivery(owner(request), id, deliveryId)
      addLinks(settings, reply, delivery)
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
      const subscriber = owner(request)
      const { id: parent } = await webhooks.delivery(subscriber, id, deliveryId)
      const resources = async (page: PageSelection) => (await webhooks.attempts(subscriber, id, parent, page)).map(showAttempt)
      const count = async (limit: number) => webhooks.count(subscriber, { subscriptionId: id, deliveryId: parent }, limit)
      return list(request, reply, { operation: 'listAttempts', parent, resources, count })
    }
  )

  app.post<OneDelivery>(
    `${oneDelivery}/redeliveries`,
    { config: routeConfig('redeliver'), schema: { params: deliveryParams, response: { 202: deliverySchema } } },
    async (request, reply) => {
      const { id, deliveryId } = request.params
      const delivery = await webhooks.redeliver(owner(request), id, deliveryId)
      addLinks(settings, reply, delivery)
      return accepted(reply, deliveryPath(id, deliveryId), showDelivery(delivery))
    }
  )

  app.post<One & { Body: { since: string; until?: string | undefined } }>(
    `${one}/recoveries`,
    { config: routeConfig('recover'), schema: { params: subscriptionParams, body: rangeSchema, response: { 202: rangeSchema } } },
    async (request, reply) => {
      const { since, until = new Date(webhooks.now()).toISOString() } = request.body
      await webhooks.recover(owner(request), request.params.id, Date.parse(since), Date.parse(until))
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

/** Adds response links to the related resources of a delivery and to the operations on it. */
function addLinks({ path, link }: RouteSettings, reply: FastifyReply, { id, subscriptionId, status }: Delivery): void {
  const subscription = `${path}/${subscriptionId}`
  const delivery = `${subscription}/deliveries/${id}`
  link(reply, 'collection', `${subscription}/deliveries`, 'GET')
  link(reply, 'up', subscription, 'GET')
  link(reply, 'attempts', `${delivery}/attempts`, 'GET')
  if (status !== 'pending') link(reply, 'redeliver', `${delivery}/redeliveries`, 'POST')
}
