import openapi, { type OpenapiOptions } from '@concordat/openapi'
import { type Contracts, contribute, type DescribedRoute, publish } from '@concordat/plugin-kit/wiring'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'

// The tests read documents of any shape.
// oxlint-disable-next-line typescript/no-explicit-any
export type Loose = any

export const Order = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    total: Type.String({ pattern: '^\\d+\\.\\d\\d$' }),
    status: Type.Union([Type.Literal('pending'), Type.Literal('paid')]),
    placedAt: Type.String({ format: 'date-time' }),
    note: Type.Optional(Type.String({ maxLength: 200 }))
  },
  { description: 'An order.' }
)

/** Returns the schema that the envelope generates for a resource. */
export function enveloped(data: object, meta: Record<string, object> = {}): object {
  const text = { type: 'string' }
  const properties = { version: text, ...meta, timestamp: text }
  const links = {
    type: 'array',
    items: { type: 'object', required: ['rel', 'href', 'method'], properties: { rel: text, href: text, method: text } }
  }
  return {
    type: 'object',
    required: ['data', '_links', '_meta'],
    properties: { data, _links: links, _meta: { type: 'object', required: Object.keys(properties), properties } }
  }
}

export const pagination = {
  type: 'object',
  required: ['page', 'perPage', 'totalItems'],
  properties: {
    page: { type: 'integer', minimum: 1 },
    perPage: { type: 'integer', minimum: 1 },
    totalItems: { type: 'integer', minimum: 0, examples: [1] }
  }
}

/** What other plugins publish for the documents. */
export interface Published {
  readonly errors?: readonly object[]
  readonly errorsOf?: (route: DescribedRoute) => readonly string[]
  readonly limitsOf?: (route: DescribedRoute) => object | undefined
  readonly webhooks?: Contracts['webhookEvents']
  readonly defaultCache?: unknown
}

/** A collection as declared in `config.collection`. */
export const collection = {
  style: 'page' as 'page' | 'cursor',
  item: Order,
  projected: { type: 'object', required: ['id'], properties: Order.properties },
  sorts: new Map([
    ['placedAt', []],
    ['-placedAt', []]
  ]),
  defaultSort: '-placedAt',
  filters: new Map([
    ['status', ['eq', 'in']],
    ['total', ['gte']]
  ]),
  count: 'exact',
  maxOffset: 10_000,
  parameters: [
    parameter('status', { type: 'string', enum: ['pending', 'paid'] }),
    parameter('total[gte]', { type: 'string' }),
    parameter('sort', { type: 'array', items: { type: 'string', enum: ['placedAt', '-placedAt'] } }),
    parameter('perPage', { type: 'integer', minimum: 1, maximum: 50, default: 10 }),
    parameter('page', { type: 'integer', minimum: 1, default: 1 })
  ]
}

function parameter(name: string, schema: object) {
  return { name, in: 'query' as const, required: false, description: `${name}.`, schema: schema as Readonly<Record<string, unknown>> }
}

export const errors = [
  { code: 'RESOURCE_NOT_FOUND', statusCode: 404, retry: 'never', message: { en: 'Nothing is here.' }, remedy: 'Check the URI.' },
  {
    code: 'VALIDATION_FAILED',
    statusCode: 422,
    retry: 'changed',
    message: { en: 'Fix {fields}.' },
    remedy: 'Fix the fields.',
    validation: true as const
  },
  { code: 'INSUFFICIENT_STOCK', statusCode: 409, retry: 'changed', message: { en: 'Only {left} are left.' }, remedy: 'Order fewer.' },
  { code: 'ALREADY_SHIPPED', statusCode: 409, retry: 'changed', message: { en: 'It is shipped.' }, remedy: 'Send it back.' },
  { code: 'TOKEN_EXPIRED', statusCode: 401, retry: 'changed', message: { en: 'The token is old.' }, remedy: 'Get a new one.' }
]

/** Starts an application with these routes and returns the document of a version. */
export async function documentOf(
  { errors: entries = [], errorsOf, limitsOf, webhooks: webhookEvents, defaultCache, ...options }: OpenapiOptions & Published,
  routes: (app: FastifyInstance) => void,
  version = 1
): Promise<Loose> {
  const app = Fastify()
  publish(app, { catalogue: { entries }, webhookEvents, defaultCache } as unknown as Partial<Contracts>)
  if (limitsOf) contribute(app, 'operations', (route) => ({ limits: limitsOf(route) }))
  if (errorsOf) contribute(app, 'operations', (route) => ({ errors: errorsOf(route) }))
  await app.register(openapi, { lint: 'off', reference: false, ...options })
  routes(app)
  const response = await app.inject(`/v${version}/openapi`)
  await app.close()
  if (response.statusCode !== 200) throw new Error(response.body)
  return response.json()
}

export const handler = async () => ({})

// Without the plugins that implement the config.
function config(more: object) {
  return { config: { ...more, otherConfigKeys: Object.keys(more) } }
}

/** Registers routes with every `config` and schema that a description is generated from. */
export function shop(app: FastifyInstance): void {
  const params = Type.Object({ id: Type.String({ format: 'uuid' }) })
  const Draft = Type.Object({ status: Type.Optional(Type.Literal('pending')), note: Type.String() })
  app.get('/v1/orders', {
    ...config({ collection, permissions: ['orders:read'] }),
    schema: { response: { 200: enveloped(Type.Array(Type.Pick(Order, ['id'])), { pagination }) } },
    handler
  })
  app.post('/v1/orders', {
    ...config({ permissions: ['orders:create'], idempotency: 'required', openapi: { errors: ['INSUFFICIENT_STOCK'] } }),
    schema: { body: Draft, response: { 201: enveloped(Order) } },
    bodyLimit: 1000,
    handler
  })
  app.get('/v1/orders/:id', {
    ...config({ public: true, cache: 'private' }),
    schema: { params, response: { 200: enveloped(Order) } },
    handler
  })
  app.put('/v1/orders/:id', {
    ...config({ permissions: ['orders:update'], validator: () => 1 }),
    schema: { params, body: Order, response: { 200: enveloped(Order) } },
    handler
  })
  app.patch('/v1/orders/:id', {
    ...config({ permissions: ['orders:update'], requireIfMatch: true, idempotency: { key: 'accepted' } }),
    schema: { params, body: Type.Partial(Draft), response: { 200: enveloped(Order) } },
    handler
  })
  app.delete('/v1/orders/:id', {
    ...config({ permissions: ['orders:delete'] }),
    schema: { params, response: { 204: Type.Null() } },
    handler
  })
  app.post('/v1/orders/:id/images', {
    ...config({ permissions: ['orders:update'], consumes: ['image/png'] }),
    schema: { response: { 201: enveloped(Type.Object({ id: Type.String() })) } },
    handler
  })
  app.get('/v1/orders/:id/images/:imageId', {
    ...config({ public: true }),
    schema: {
      response: {
        200: {
          description: 'The image, or what is known of it.',
          content: {
            'application/json': { schema: enveloped(Type.Object({ id: Type.String() })) },
            'image/png': { schema: { type: 'string', format: 'binary' } }
          }
        }
      }
    },
    handler
  })
  app.get('/health', { ...config({ operational: true, public: true }), handler })
}
