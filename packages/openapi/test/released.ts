import type { Loose } from './shop.ts'

const link = {
  type: 'object',
  required: ['rel', 'href', 'method'],
  properties: { rel: { type: 'string' }, href: { type: 'string', format: 'uri' }, method: { type: 'string' } }
}

function page(data: object) {
  return {
    type: 'object',
    required: ['data', '_links'],
    properties: { data, _links: { type: 'array', items: { $ref: '#/components/schemas/Link' } } }
  }
}

function json(schema: object) {
  return { 'application/json': { schema } }
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const id = { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }
const failure = { $ref: '#/components/responses/NotFound' }

/** Returns a new released document with an example of everything that can break. */
export function released(): Loose {
  return structuredClone({
    openapi: '3.1.1',
    info: { title: 'Shop', version: '1.0.0' },
    servers: [{ url: 'https://shop.example' }],
    security: [{ bearer: [] }],
    paths: {
      '/v1/orders': {
        parameters: [{ name: 'X-Tenant', in: 'header', required: false, schema: { type: 'string' } }],
        get: {
          security: [],
          parameters: [
            { name: 'status', in: 'query', schema: { type: 'string', enum: ['pending', 'paid', 'shipped'] } },
            {
              name: 'sort',
              in: 'query',
              style: 'form',
              explode: false,
              schema: { type: 'array', items: { type: 'string', enum: ['placedAt', 'total'] }, default: ['placedAt'] }
            },
            { name: 'perPage', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100, default: 25 } },
            { $ref: '#/components/parameters/After' }
          ],
          responses: {
            200: {
              description: 'A page.',
              headers: { 'Request-Id': { required: true, schema: { type: 'string' } }, Vary: { $ref: '#/components/headers/Vary' } },
              content: { ...json(page({ type: 'array', items: ref('Order'), maxItems: 100 })), 'text/csv': { schema: { type: 'string' } } }
            },
            304: { description: 'Not modified.' },
            404: failure
          }
        },
        post: {
          'x-permissions': ['orders:create'],
          parameters: [{ name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string', maxLength: 255 } }],
          requestBody: {
            required: true,
            content: { ...json(ref('NewOrder')), 'application/x-www-form-urlencoded': { schema: ref('NewOrder') } }
          },
          responses: {
            201: { description: 'Created.', headers: { Location: { schema: { type: 'string' } } }, content: json(page(ref('Order'))) },
            404: failure
          }
        }
      },
      '/v1/orders/{id}': {
        parameters: [id],
        get: { responses: { 200: { description: 'One.', content: json(page(ref('Order'))) }, '4XX': { description: 'Wrong.' } } },
        patch: {
          security: [{ bearer: [] }, { key: [] }],
          requestBody: { content: json(ref('OrderChanges')) },
          responses: { 200: { description: 'Changed.', content: json(page(ref('Order'))) }, 404: failure }
        },
        delete: { security: [{ oauth: ['write'] }], responses: { 204: { description: 'Deleted.' }, 404: failure } }
      },
      '/v1/searches': { post: { responses: { default: { description: 'Whatever.' } } } }
    },
    webhooks: {
      orderCreated: { post: { requestBody: { content: json(ref('Order')) }, responses: { 204: { description: 'Taken.' } } } }
    },
    components: {
      parameters: { After: { name: 'after', in: 'query', schema: { type: 'string', maxLength: 1024 } } },
      headers: { Vary: { schema: { type: 'string' } } },
      responses: {
        NotFound: {
          description: 'Nothing.',
          content: json({
            type: 'object',
            required: ['error'],
            properties: {
              error: {
                allOf: [ref('ErrorDetail'), { type: 'object', properties: { code: { type: 'string', enum: ['RESOURCE_NOT_FOUND'] } } }]
              }
            }
          })
        }
      },
      schemas: {
        Link: link,
        ErrorDetail: {
          type: 'object',
          required: ['code', 'message'],
          properties: { code: { type: 'string' }, message: { type: 'string' } }
        },
        Money: {
          type: 'object',
          required: ['amount'],
          properties: { amount: { type: 'string', pattern: '^\\d+\\.\\d\\d$' }, currency: { type: 'string', const: 'EUR' } }
        },
        Customer: { type: 'object', required: ['id'], properties: { id: { type: 'string', format: 'uuid' }, referredBy: ref('Customer') } },
        Order: {
          type: 'object',
          required: ['id', 'status', 'total'],
          properties: {
            id: { type: 'string', format: 'uuid' },
            status: { type: 'string', enum: ['pending', 'paid', 'shipped'] },
            total: ref('Money'),
            customer: ref('Customer'),
            weight: { type: 'number' },
            count: { type: 'integer', minimum: 0, maximum: 100 },
            placedAt: { type: 'string', format: 'date-time' },
            note: { type: 'string', maxLength: 200 },
            reviewedAt: { type: ['string', 'null'], format: 'date-time' },
            tags: { type: 'array', items: { type: 'string' }, uniqueItems: true },
            payment: {
              oneOf: [
                { type: 'object', required: ['card'], properties: { card: { type: 'string' } } },
                { type: 'object', required: ['iban'], properties: { iban: { type: 'string' } } }
              ]
            },
            labels: { type: 'object', additionalProperties: { type: 'string' } }
          }
        },
        NewOrder: {
          type: 'object',
          required: ['items'],
          properties: {
            items: {
              type: 'array',
              minItems: 1,
              maxItems: 50,
              items: {
                type: 'object',
                required: ['sku'],
                properties: {
                  sku: { type: 'string', minLength: 1, maxLength: 40 },
                  quantity: { type: 'integer', minimum: 1, maximum: 100, default: 1 }
                }
              }
            },
            note: { type: 'string', maxLength: 200 },
            channel: { type: 'string', enum: ['web', 'phone'] },
            payment: {
              oneOf: [
                { type: 'object', required: ['card'], properties: { card: { type: 'string' } } },
                { type: 'object', required: ['iban'], properties: { iban: { type: 'string' } } }
              ]
            },
            step: { type: 'integer', multipleOf: 5 },
            when: { type: 'string' },
            gift: { anyOf: [{ type: 'string', enum: ['wrap'] }, { type: 'null' }] }
          }
        },
        OrderChanges: { type: 'object', properties: { note: { type: ['string', 'null'] }, weight: { type: 'number' } } }
      },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        oauth: { type: 'oauth2', flows: {} }
      }
    }
  })
}

/** The parts of a released document that the tests change. */
export interface Parts {
  readonly document: Loose
  readonly list: Loose
  readonly create: Loose
  readonly item: Loose
  readonly schemas: Loose
  readonly order: Loose
  readonly draft: Loose
}

export function partsOf(document: Loose): Parts {
  const { paths, components } = document
  return {
    document,
    list: paths['/v1/orders'].get,
    create: paths['/v1/orders'].post,
    item: paths['/v1/orders/{id}'],
    schemas: components.schemas,
    order: components.schemas.Order.properties,
    draft: components.schemas.NewOrder.properties
  }
}
