import type { FastifyReply } from 'fastify'
import type { Delivery } from '../store/delivery.ts'
import type { Subscription } from '../store/subscription.ts'
import type { RouteSettings } from './route-options.ts'

/** Adds response links to the related resources of a subscription and to the operations on it. */
export function linkSubscription({ path, link }: RouteSettings, reply: FastifyReply, { id, status }: Subscription): void {
  link(reply, 'collection', path, 'GET')
  link(reply, 'deliveries', `${path}/${id}/deliveries`, 'GET')
  link(reply, 'rotate-secret', `${path}/${id}/secrets`, 'POST')
  if (status === 'disabled') return
  link(reply, 'ping', `${path}/${id}/pings`, 'POST')
  link(reply, 'recover', `${path}/${id}/recoveries`, 'POST')
}

/** Adds response links to the related resources of a delivery and to the operations on it. */
export function linkDelivery({ path, link }: RouteSettings, reply: FastifyReply, { id, subscriptionId, status }: Delivery): void {
  const subscription = `${path}/${subscriptionId}`
  const delivery = `${subscription}/deliveries/${id}`
  link(reply, 'collection', `${subscription}/deliveries`, 'GET')
  link(reply, 'up', subscription, 'GET')
  link(reply, 'attempts', `${delivery}/attempts`, 'GET')
  if (status !== 'pending') link(reply, 'redeliver', `${delivery}/redeliveries`, 'POST')
}
