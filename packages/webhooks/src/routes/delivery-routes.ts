import type { FastifyInstance, FastifyReply } from 'fastify'
import { messageId } from '../events/event-catalogue.ts'
import type { Delivery, DeliveryStatus } from '../store/delivery.ts'
import { webhookIdOf } from '../store/delivery.ts'
import type { PageSelection } from '../store/store.ts'
import { attemptSchema, deliverySchema, subscriptionParams as params, showDelivery, shown } from './representation.ts'
import { listOf, listQuery, type RouteSettings, routeOf } from './route-options.ts'

type One = { Params: { id: string } }
type OneDelivery = { Params: { id: string; deliveryId: string } }

const deliveryParams = {
  ...params,
  properties: { ...params.properties, deliveryId: { type: 'string', format: 'uuid' } },
  required: ['id', 'deliveryId']
}
const pingSchema = {
  type: 'object',
  properties: { messageId: { ...messageId, description: 'The value of the `webhook-id` header of the ping.' } },
  required: ['messageId']
}
const time = { type: 'string', format: 'date-time' }
const rangeSchema = { type: 'object', properties: { since: time, until: time }, required: ['since'], additionalProperties: false }

/** Adds the routes for pings, deliveries, attempts, redeliveries and recoveries. */
export function addDeliveryRoutes(app: FastifyInstance, settings: RouteSettings): void {
  const { path, owner, created, list } = settings
  const { webhooks } = app
  const one = `${path}/:id`
  const oneDelivery = `${one}/deliveries/:deliveryId`

  app.post<One>(`${one}/pings`, routeOf(settings, 'ping', { params }, { 202: pingSchema }), async (request, reply) => {
    const { id, subscriptionId, messageId } = await webhooks.ping(owner(request), request.params.id)
    return accepted(reply, deliveryPath(subscriptionId, id), { messageId: webhookIdOf({ messageId }) })
  })

  const query = { params, ...listQuery(settings, { status: deliverySchema.properties['status'] }) }
  app.get<One>(`${one}/deliveries`, routeOf(settings, 'listDeliveries', query, { 200: listOf(deliverySchema) }), async (request, reply) => {
    const subscriber = owner(request)
    const { id: parent } = await webhooks.subscription(subscriber, request.params.id)
    const resources = async (page: PageSelection & { readonly status?: DeliveryStatus | undefined }) =>
      (await webhooks.deliveries(subscriber, parent, page)).map((delivery) => showDelivery(delivery))
    const count = async (limit: number, status?: DeliveryStatus) => webhooks.count(subscriber, { subscriptionId: parent, status }, limit)
    return list(request, reply, { operation: 'listDeliveries', parent, resources, count })
  })

  app.get<OneDelivery>(
    oneDelivery,
    routeOf(settings, 'readDelivery', { params: deliveryParams }, { 200: deliverySchema }),
    async (request, reply) => {
      const { id, deliveryId } = request.params
      const delivery = await webhooks.delivery(owner(request), id, deliveryId)
      addLinks(settings, reply, delivery)
      return showDelivery(delivery)
    }
  )

  const attemptsQuery = { params: deliveryParams, ...listQuery(settings) }
  app.get<OneDelivery>(
    `${oneDelivery}/attempts`,
    routeOf(settings, 'listAttempts', attemptsQuery, { 200: listOf(attemptSchema) }),
    async (request, reply) => {
      const { id, deliveryId } = request.params
      const subscriber = owner(request)
      const { id: parent } = await webhooks.delivery(subscriber, id, deliveryId)
      const resources = async (page: PageSelection) =>
        (await webhooks.attempts(subscriber, id, parent, page)).map((attempt) => shown(attemptSchema, attempt))
      const count = async (limit: number) => webhooks.count(subscriber, { subscriptionId: id, deliveryId: parent }, limit)
      return list(request, reply, { operation: 'listAttempts', parent, resources, count })
    }
  )

  const redeliver = routeOf(settings, 'redeliver', { params: deliveryParams }, { 202: deliverySchema })
  app.post<OneDelivery>(`${oneDelivery}/redeliveries`, redeliver, async (request, reply) => {
    const { id, deliveryId } = request.params
    const delivery = await webhooks.redeliver(owner(request), id, deliveryId)
    addLinks(settings, reply, delivery)
    return accepted(reply, deliveryPath(id, deliveryId), showDelivery(delivery))
  })

  const recover = routeOf(settings, 'recover', { params, body: rangeSchema }, { 202: rangeSchema })
  app.post<One & { Body: { since: string; until?: string | undefined } }>(`${one}/recoveries`, recover, async (request, reply) => {
    const { since, until = new Date(webhooks.now()).toISOString() } = request.body
    await webhooks.recover(owner(request), request.params.id, Date.parse(since), Date.parse(until))
    return accepted(reply, `${path}/${request.params.id}/deliveries`, { since, until })
  })

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
