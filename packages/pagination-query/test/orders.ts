import paginationQuery, { collection, type PaginationQueryOptions } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { isApiError } from '@concordat/plugin-kit/api-error'
import { contractOf } from '@concordat/plugin-kit/wiring'
import { type Static, Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'

/** A secret for cursors. */
export const secret = 'fJ2mYp7Qw4Zt9LxN8vBc3KdR6sHg1TaE'

export const Order = Type.Object({
  id: Type.String({ format: 'uuid' }),
  status: Type.Union([Type.Literal('pending'), Type.Literal('paid'), Type.Literal('shipped')]),
  total: Type.String({ pattern: '^\\d{1,18}\\.\\d{2}$' }),
  quantity: Type.Integer(),
  urgent: Type.Boolean(),
  placedAt: Type.String({ format: 'date-time' }),
  dueOn: Type.Optional(Type.String({ format: 'date' })),
  title: Type.String({ maxLength: 40 }),
  address: Type.Object({ city: Type.String(), lines: Type.Array(Type.String()) }),
  note: Type.Optional(Type.String())
})
export type Order = Static<typeof Order>

const declaration = {
  name: 'orders',
  id: 'id',
  defaultSort: ['-placedAt'],
  sort: { keys: ['placedAt', 'total', 'dueOn', 'id'], combinations: [['status', '-placedAt']] },
  filter: {
    id: ['eq', 'in'],
    status: ['eq', 'ne', 'in', 'nin'],
    total: ['eq', 'gt', 'gte', 'lt', 'lte'],
    quantity: true,
    urgent: true,
    placedAt: ['gt', 'gte', 'lt', 'lte'],
    dueOn: ['eq', 'gte', 'null'],
    title: ['eq', 'ne', 'in', 'prefix']
  }
} as const

export const pagedOrders = collection(Order)({ ...declaration, style: 'page' })
export const cursorOrders = collection(Order)({ ...declaration, style: 'cursor', name: 'cursor-orders' })

/** 23 unsorted orders. Three of them have no date. */
export const rows: Order[] = Array.from({ length: 23 }, (_, index) => ({
  id: `018f4e2a-7c1b-7d3e-9a5f-${String((index * 7) % 23).padStart(12, '0')}`,
  status: (['pending', 'paid', 'shipped'] as const)[index % 3] as Order['status'],
  total: `${index % 5}.50`,
  quantity: index,
  urgent: index % 2 === 0,
  placedAt: `2026-01-0${1 + (index % 4)}T10:00:00.00000${index % 2}Z`,
  ...(index % 8 !== 0 && { dueOn: `2026-02-${String(1 + (index % 6)).padStart(2, '0')}` }),
  title: `Order ${index}`,
  address: { city: 'Vigo', lines: ['a', 'b'] }
}))

/** Returns an application with the rows of `read` by page at /paged and by cursor at /orders, and the errors of the catalogue. */
export async function ordersApp(
  options: Partial<PaginationQueryOptions> = {},
  read: () => Order[] = () => rows,
  serverOptions: object = {}
): Promise<FastifyInstance> {
  const app = Fastify(serverOptions)
  app.setErrorHandler((error, _request, reply) => {
    if (!isApiError(error)) return reply.code(500).send({ code: 'INTERNAL_ERROR', message: String(error) })
    const errors = error.errors.map(({ field, key, message }) => ({ field, key, message }))
    return reply.code(error.statusCode).send({ code: error.code, message: error.message, errors })
  })
  await app.register(paginationQuery, { publicUrl: 'https://api.example.com', cursor: { secrets: [secret] }, ...options })
  app.addHook('onSend', remember)
  const schema = { response: { 200: Type.Array(Order) } }
  app.get('/paged', { config: { collection: pagedOrders }, schema }, async (request, reply) =>
    reply.page(runArray(read(), request.listQuery(pagedOrders)))
  )
  app.get('/orders', { config: { collection: cursorOrders }, schema }, async (request, reply) =>
    reply.page(runArray(read(), request.listQuery(cursorOrders)))
  )
  return app
}

// Sends the parts for an envelope in a separate header.
async function remember(request: FastifyRequest, reply: FastifyReply) {
  reply.header('parts', encodeURIComponent(JSON.stringify(contractOf(request.server, 'pages')?.parts(request, reply))))
}

/** A response as these tests read it. */
export interface ReceivedResponse {
  readonly status: number
  readonly code: string | undefined
  readonly rows: Order[]
  /** The keys of the errors by field. */
  readonly errors: Record<string, string>
  readonly messages: Record<string, string>
  /** The targets without the origin, by relation. */
  readonly links: Record<string, string>
  readonly pagination: Record<string, unknown>
  readonly headers: Record<string, unknown>
}

export async function get(app: FastifyInstance, url: string): Promise<ReceivedResponse> {
  const response = await app.inject(url)
  const body = response.json()
  const errors: { field: string; key: string; message: string }[] = body.errors ?? []
  const { links = [], meta } = JSON.parse(decodeURIComponent(String(response.headers['parts'] ?? '%7B%7D')))
  return {
    status: response.statusCode,
    code: body.code,
    rows: Array.isArray(body) ? body : [],
    errors: Object.fromEntries(errors.map(({ field, key }) => [parameterOf(field), key])),
    messages: Object.fromEntries(errors.map(({ field, message }) => [parameterOf(field), message])),
    links: Object.fromEntries(
      links.map(({ rel, href }: { rel: string; href: string }) => [rel, href.replace('https://api.example.com', '')])
    ),
    pagination: meta?.pagination ?? {},
    headers: response.headers
  }
}

// Every field of an error is a parameter, or the query string as a whole.
function parameterOf(field: string) {
  if (field === 'query') return field
  if (!field.startsWith('query.')) throw new Error(`The field "${field}" does not begin with "query.".`)
  return field.slice('query.'.length)
}
