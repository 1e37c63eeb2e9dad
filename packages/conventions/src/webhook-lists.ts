import { type Collection, collection, type KeyRange, type ListQuery, pageOf } from '@concordat/pagination-query'
import { attemptSchema, deliverySchema, type ListWish, subscriptionSchema } from '@concordat/webhooks'
import type { FastifyReply, FastifyRequest } from 'fastify'

type Resource = Readonly<Record<string, unknown>>
type Part = Parameters<ListWish['resources']>[0]

// By cursor, since attempts and deliveries come in all the time; ids are made one after the other.
const byId = { style: 'cursor', id: 'id', defaultSort: ['-id'], sort: { keys: ['id'] }, count: 'none' } as const

/** How the lists of webhooks can be asked for. */
export const webhookCollections: Readonly<Record<ListWish['operation'], Collection<Resource>>> = {
  listSubscriptions: collection<Resource>(subscriptionSchema)({ name: 'webhook-subscriptions', ...byId }),
  listDeliveries: collection<Resource>(deliverySchema)({ name: 'webhook-deliveries', ...byId, filter: { status: ['eq'] } }),
  listAttempts: collection<Resource>(attemptSchema)({ name: 'webhook-attempts', ...byId })
}

/** Answers a list of webhooks by its collection. */
export async function answerWebhookList(
  request: FastifyRequest,
  reply: FastifyReply,
  { operation, resources }: ListWish
): Promise<unknown> {
  const query: ListQuery<Resource> = request.listQuery(webhookCollections[operation])
  const rows = await resources(partOf(query))
  return reply.page(
    pageOf(
      query,
      rows.map((row) => ({ row, key: [String(row['id'])] }))
    )
  )
}

/** The part of a list that a query asks for, and one more. */
function partOf({ order: [first], reverse, ranges: [range], conditions: [status], perPage }: ListQuery): Part {
  const oldestFirst = first?.descending === reverse
  const part = { limit: perPage + 1, oldestFirst, after: range && positionOf(range) }
  return status === undefined ? part : { ...part, status: status.value as NonNullable<Part['status']> }
}

function positionOf({ beyond }: KeyRange) {
  const id = beyond?.values[0]
  if (id === undefined || beyond?.operator === '<' || beyond?.operator === '>') return id
  return neighbour(id, beyond?.operator === '>=' ? -1n : 1n)
}

// Where the row itself is meant too: what lies behind it begins behind the id next to it.
function neighbour(id: string, step: bigint) {
  const number = (BigInt(`0x${id.replaceAll('-', '')}`) + step).toString(16).padStart(32, '0')
  return number.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
