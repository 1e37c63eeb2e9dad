import { type Collection, collection, countTotal, type KeyRange, type ListQuery, pageOf } from '@concordat/pagination-query'
import { attemptSchema, deliverySchema, managedSubscriptionSchema, subscriptionSchema, type WebhookListInput } from '@concordat/webhooks'
import type { FastifyReply, FastifyRequest } from 'fastify'

type Resource = Readonly<Record<string, unknown>>
type Part = Parameters<WebhookListInput['resources']>[0]

// By cursor, because attempts and deliveries are added all the time; ids are created in ascending order.
const byId = { style: 'cursor', id: 'id', defaultSort: ['-id'], sort: { keys: ['id'] } } as const

/** The collections of the webhook lists: how each can be sorted, filtered and paged. */
export const webhookCollections: Readonly<Record<WebhookListInput['operation'], Collection<Resource>>> = {
  listSubscriptions: collection<Resource>(subscriptionSchema)({ name: 'webhook-subscriptions', ...byId }),
  listManagedSubscriptions: collection<Resource>(managedSubscriptionSchema)({ name: 'managed-webhook-subscriptions', ...byId }),
  listDeliveries: collection<Resource>(deliverySchema)({ name: 'webhook-deliveries', ...byId, filter: { status: ['eq'] } }),
  listAttempts: collection<Resource>(attemptSchema)({ name: 'webhook-attempts', ...byId })
}

/** Responds with one page of a webhook list, according to its collection. */
export async function sendWebhookList(
  request: FastifyRequest,
  reply: FastifyReply,
  { operation, resources, count }: WebhookListInput
): Promise<unknown> {
  const query: ListQuery<Resource> = request.listQuery(webhookCollections[operation])
  const part = partOf(query)
  const rows = await resources(part)
  // The collections count up to a limit.
  const total = await countTotal(query, rows.length, async (limit) => count(limit as number, part.status))
  const keyed = rows.map((row) => ({ row, key: [String(row['id'])] }))
  return reply.page(pageOf(query, keyed, total))
}

/** Returns the limit, order and start of the rows that the query selects; the limit is the page size plus one row. */
function partOf({ order: [first], reverse, ranges: [range], conditions: [status], perPage }: ListQuery): Part {
  const oldestFirst = first?.descending === reverse
  const part = { limit: perPage + 1, oldestFirst, after: range && positionOf(range) }
  return status === undefined ? part : { ...part, status: status.value as NonNullable<Part['status']> }
}

function positionOf({ beyond }: KeyRange) {
  const { operator, values: [id] = [] } = beyond ?? {}
  if (id === undefined || operator === '<' || operator === '>') return id
  return adjacentId(id, operator === '>=' ? -1n : 1n)
}

// For an inclusive range, the part begins after the id next to that of the row, so that the row itself is included.
function adjacentId(id: string, step: bigint) {
  const number = (BigInt(`0x${id.replaceAll('-', '')}`) + step).toString(16).padStart(32, '0')
  return number.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
