import { breakingChanges } from '@concordat/openapi/diff'
import { lintDocument } from '@concordat/openapi/lint'
import { responseChecker } from '@concordat/openapi/testing'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { collection, documentOf, enveloped, errors, handler, type Loose, Order, pagination, shop } from './shop.ts'

function failing(codes: string[]) {
  return { config: { openapi: { errors: codes } }, handler }
}

function names({ parameters }: Loose) {
  return parameters.filter((one: Loose) => one.in === 'header').map(({ name, required }: Loose) => `${name}${required ? '!' : ''}`)
}

function nameOf({ $ref: reference }: Loose) {
  return reference.split('/').at(-1)
}

const wholeOrPartial = { anyOf: [{ $ref: '#/components/schemas/Order' }, { $ref: '#/components/schemas/PartialOrder' }] }

t.test('describes the parameters, sort orders, filters and complete items of a collection [Q13]', async (t) => {
  const { paths, components } = await documentOf({}, shop)
  const list = paths['/v1/orders'].get
  t.strictSame(
    list.parameters.map(({ name }: Loose) => name),
    ['status', 'total[gte]', 'sort', 'perPage', 'page']
  )
  t.match(list.description, /sorted by `placedAt`, `-placedAt`\. The default order is `-placedAt`/)
  t.match(list.description, /filtered by `status` \(eq, in\), `total` \(gte\)/)
  t.strictSame(list['x-filterable'], { status: ['eq', 'in'], total: ['gte'] })
  t.strictSame(list['x-sortable'], ['placedAt', '-placedAt'])
  t.strictSame(list['x-pagination'], { style: 'page', defaultPerPage: 10, maxPerPage: 50, maxOffset: 10_000, count: 'exact' })
  t.strictSame(list.responses[200].content['application/json'].schema.properties.data.items, wholeOrPartial)
  t.strictSame(components.schemas.Order.required, ['id', 'total', 'status', 'placedAt'])
  const { required, properties } = components.schemas.PartialOrder
  t.strictSame({ required, properties }, { required: ['id'], properties: components.schemas.Order.properties })
})

t.test('describes a cursor collection without filters, and keeps its media types', async (t) => {
  const { paths, components } = await documentOf({}, (app) => {
    const cursor = { ...collection, style: 'cursor', filters: new Map(), parameters: [], count: undefined }
    const schema = enveloped(Type.Array(Order), { pagination: { type: 'object', properties: { perPage: { type: 'integer' } } } })
    app.get('/v1/orders', {
      config: { collection: cursor, otherConfigKeys: ['collection'] } as object,
      schema: {
        response: { 200: { description: 'All.', content: { 'application/json': { schema } } }, 206: Type.Array(Type.Pick(Order, ['id'])) }
      },
      handler
    })
  })
  const list = paths['/v1/orders'].get
  t.match(list.description, /has no filters/)
  t.strictSame(list['x-pagination'], { style: 'cursor' })
  t.equal(list.responses[200].description, 'All.')
  t.equal(list.responses[200].content['application/json'].schema.properties._meta.$ref, '#/components/schemas/CursorListMeta')
  t.strictSame(list.responses[206].content['application/json'].schema.items, wholeOrPartial)
  t.ok(components.schemas.CursorPagination)
})

t.test('describes the errors of an operation by status code, with their error codes and remedies [X3]', async (t) => {
  const { paths, components } = await documentOf(
    { errors, errorsOf: ({ url }) => (url.includes(':') ? ['RESOURCE_NOT_FOUND'] : ['TOKEN_EXPIRED', 'NOBODY_KNOWS']) },
    shop
  )
  const { responses } = paths['/v1/orders'].post
  t.strictSame(Object.keys(responses), ['201', '401', '409'])
  const conflict = components.responses[nameOf(responses[409])]
  t.equal(conflict.description, '`INSUFFICIENT_STOCK`: Order fewer.')
  t.match(conflict.content['application/json'].examples.INSUFFICIENT_STOCK.value.error, {
    status: 409,
    error: 'Conflict',
    message: 'Only … are left.'
  })
  t.match(components.responses[nameOf(responses[401])].headers, { 'WWW-Authenticate': { $ref: '#/components/headers/WWW-Authenticate' } })
  t.strictSame(paths['/v1/orders/{id}'].get.responses[404], { $ref: '#/components/responses/ResourceNotFound' })
})

t.test('groups the error codes of a status code in a response, and shares responses with the same codes', async (t) => {
  const { components, paths } = await documentOf(
    { errors: [...errors, { code: 'ODD', statusCode: 499, retry: 'changed', message: { en: 'Odd.' }, remedy: 'None.' }] },
    (app) => {
      app.get('/v1/a', failing(['ALREADY_SHIPPED', 'INSUFFICIENT_STOCK', 'ODD']))
      app.get('/v1/b', failing(['INSUFFICIENT_STOCK', 'ALREADY_SHIPPED']))
      app.get('/v1/c', failing(['ALREADY_SHIPPED', 'VALIDATION_FAILED']))
    }
  )
  t.match(Object.keys(components.responses), [/^Conflict_[0-9a-f]{6}$/, 'Odd', 'AlreadyShipped', 'ValidationFailed'])
  t.strictSame(paths['/v1/a'].get.responses[409], paths['/v1/b'].get.responses[409])
  t.equal(components.responses.Odd.content['application/json'].examples.ODD.value.error.error, 'Error', 'a status without a reason phrase')
  t.match(components.responses.ValidationFailed.content['application/json'].examples.VALIDATION_FAILED.value.error, {
    error: 'ValidationError',
    errors: [{ field: 'body' }]
  })
})

t.test('what a code says of its request is once in the document, with the codes that are the own ones of a route', async (t) => {
  const late = { code: 'LATE', statusCode: 503, retry: 'later', effect: 'none', message: { en: 'Late.' }, remedy: 'Wait.' }
  const document = await documentOf({ errors: [...errors, late], errorsOf: () => ['LATE', 'RESOURCE_NOT_FOUND'] }, (app) =>
    app.get('/v1/a', failing(['INSUFFICIENT_STOCK']))
  )
  t.strictSame(document['x-errors'], {
    INSUFFICIENT_STOCK: { own: true, retry: 'changed', effects: ['none', 'unknown'] },
    LATE: { retry: 'later', effects: ['none'] },
    RESOURCE_NOT_FOUND: { retry: 'never', effects: ['none', 'unknown'] }
  })
})

const ofJob = (job: 'start' | 'status' | 'cancel' | 'result') => ({ config: { job, otherConfigKeys: ['job'] } })

t.test('the operation that starts a job says where its status and its result are', async (t) => {
  const text = { schema: { response: { 200: { type: 'string' } } } }
  const { paths } = await documentOf({}, (app) => {
    app.post('/v1/imports', ofJob('start'), handler)
    app.get('/v1/imports/:id', ofJob('status'), handler)
    app.delete('/v1/imports/:id', ofJob('cancel'), handler)
    app.post('/v1/exports', ofJob('start'), handler)
    app.put('/v1/exports', handler)
    app.get('/v1/exports/:id', ofJob('status'), handler)
    app.get('/v1/exports/:id/files/:fileId', { ...ofJob('result'), ...text }, handler)
    app.post('/v1/elsewhere', ofJob('start'), handler)
  })
  t.strictSame(paths['/v1/imports'].post['x-job'], { status: '/v1/imports/{id}' })
  const result = '/v1/exports/{id}/files/{fileId}'
  t.strictSame(paths['/v1/exports'].post['x-job'], { status: '/v1/exports/{id}', result, mediaTypes: ['application/json'] })
  for (const operation of [paths['/v1/exports'].put, paths['/v1/imports/{id}'].get, paths['/v1/elsewhere'].post])
    t.notOk('x-job' in operation)
})

t.test('an error code that is not in the catalogue stops the start', async (t) => {
  await t.rejects(
    documentOf({ lint: 'error', errors }, (app) => app.get('/v1/orders', { config: { openapi: { errors: ['TYPO'] } } }, handler)),
    /GET \/v1\/orders lists "TYPO" in config\.openapi\.errors, which the error catalogue does not define/
  )
})

t.test('describes the security of an operation: its schemes and permissions, or an empty list when it is public [U10]', async (t) => {
  const { paths, components } = await documentOf({}, shop)
  t.strictSame(paths['/v1/orders'].post.security, [{ bearer: [] }])
  t.match(paths['/v1/orders'].post, { description: /Requires the permission `orders:create`/, 'x-permissions': ['orders:create'] })
  t.strictSame(paths['/v1/orders/{id}'].get.security, [])
  t.match(components.securitySchemes.bearer, { type: 'http', scheme: 'bearer' })
  const other = await documentOf({ securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } }, shop)
  t.strictSame(other.paths['/v1/orders'].post.security, [{ key: [] }])
})

t.test('describes idempotency keys and conditional requests, with their request and response headers [I1]', async (t) => {
  const { paths } = await documentOf({}, shop)
  const { get, put, patch } = paths['/v1/orders/{id}']
  const { post } = paths['/v1/orders']
  t.strictSame([post, get, put, patch].map(names), [
    ['Idempotency-Key!'],
    ['If-None-Match', 'If-Modified-Since'],
    ['If-Match'],
    ['Idempotency-Key', 'If-Match!']
  ])
  t.match(post, {
    'x-idempotency': 'required',
    responses: { 201: { headers: { 'Idempotency-Replayed': {}, 'Idempotency-Status': {}, Location: {} } } }
  })
  t.match(patch, { 'x-idempotency': 'accepted', 'x-if-match': 'required' })
  t.match(put, { 'x-if-match': 'accepted' })
  t.hasProps(get.responses, ['200', '304'])
  t.hasProps(get.responses[200].headers, ['ETag', 'Cache-Control'])
  const kept = await documentOf({}, (app) => {
    app.get('/v1/tokens', { config: { cache: 'no-store', otherConfigKeys: ['cache'] } as object }, handler)
    app.post('/v1/tokens', { config: { cache: 'no-store', otherConfigKeys: ['cache'] } as object }, handler)
  })
  t.strictSame(Object.keys(kept.paths['/v1/tokens'].get.responses), ['200'])
  t.strictSame(names(kept.paths['/v1/tokens'].post), [])
})

t.test('describes the rate limits of an operation [X5]', async (t) => {
  const policy = { name: 'address', scope: 'address', limit: 10, windowSeconds: 60 }
  const limitsOf = ({ method }: { method: unknown }) =>
    method === 'POST'
      ? { cost: 5, policies: [policy, { ...policy, name: 'gold', scope: 'client', tier: 'gold' }] }
      : { cost: 1, policies: method === 'GET' ? [policy] : [] }
  const { paths } = await documentOf({ limitsOf }, shop)
  const { get, post } = paths['/v1/orders']
  t.match(get.description, /Limited to 10 requests in 60 s per address \(`address`\)\.$/)
  t.match(post.description, /10 requests in 60 s per client in the tier gold \(`gold`\)\. Each request counts as 5 requests/)
  t.match(post['x-rate-limits'], { cost: 5, policies: [{ limit: 10 }, { tier: 'gold' }] })
  t.hasProps(get.responses[200].headers, ['RateLimit', 'RateLimit-Policy'])
  t.equal(paths['/v1/orders/{id}'].delete['x-rate-limits'], undefined)
  t.match(post, { description: /at most 1000 bytes/, 'x-body-limit-bytes': 1000 })
})

t.test('describes the media types of bodies without a schema, and keeps the descriptions of the author', async (t) => {
  const { paths } = await documentOf({}, (app) => {
    shop(app)
    app.post('/v1/files', { config: { consumes: ['application/json'], otherConfigKeys: ['consumes'] } as object }, handler)
    app.get(
      '/v1/queries',
      {
        schema: {
          query: Type.Object({ q: Type.String() }),
          description: 'Own words.',
          summary: 'Own',
          tags: ['own'],
          response: { 203: Type.Object({}) }
        }
      },
      handler
    )
  })
  t.strictSame(paths['/v1/orders/{id}/images'].post.requestBody, {
    required: true,
    content: { 'image/png': { schema: { type: 'string', format: 'binary' } } }
  })
  t.equal(paths['/v1/files'].post.requestBody, undefined)
  t.match(paths['/v1/queries'].get, {
    summary: 'Own',
    description: 'Own words.',
    tags: ['own'],
    parameters: [{ name: 'q' }],
    responses: { 203: { description: 'The query.' } }
  })
  const image = paths['/v1/orders/{id}/images/{imageId}'].get.responses[200]
  t.equal(image.description, 'The image, or what is known of it.')
  t.strictSame(Object.keys(image.content), ['application/json', 'image/png'])
})

t.test('adds the parts of the option parts to an operation', async (t) => {
  const parts = [
    () => ({
      headers: {
        'Request-Id': { description: 'The id.', schema: { type: 'string' } },
        'X-Made': { schema: { type: 'string' }, statuses: ['201'] }
      },
      parameters: [{ name: 'Accept-Language', in: 'header' as const, schema: { type: 'string' } }],
      responses: { 303: { description: 'There.' } },
      notes: ['Noted.'],
      extensions: { 'x-own': true }
    }),
    () => undefined
  ]
  const { paths, components } = await documentOf({ parts }, (app) => {
    app.get('/v1/orders', { schema: { response: { 200: enveloped(Type.Array(Order), { pagination }) } } }, handler)
  })
  const { get } = paths['/v1/orders']
  t.match(get, {
    description: 'Noted.',
    'x-own': true,
    parameters: [{ name: 'Accept-Language' }],
    responses: { 303: { description: 'There.' } }
  })
  t.match(components.headers['Request-Id'], { description: 'The id.' })
  t.equal(components.headers['X-Made'], undefined)
})

t.test('describes Last-Modified for a GET whose validator may know the time of the last change [C1]', async (t) => {
  const { paths, components } = await documentOf({ errors, defaultCache: 'private' }, (app) => {
    const validator = () => ({ exists: app.hasDecorator('orders') })
    app.get(
      '/v1/orders/:id',
      { config: { validator, otherConfigKeys: ['validator'] } as object, schema: { response: { 200: enveloped(Order) } } },
      handler
    )
    app.get(
      '/v1/carts/:id',
      {
        config: { validator, cache: 'no-store', otherConfigKeys: ['validator', 'cache'] } as object,
        schema: { response: { 200: enveloped(Order) } }
      },
      handler
    )
  })
  const { 200: full, 304: notModified } = paths['/v1/orders/{id}'].get.responses
  for (const { headers } of [full, notModified]) t.strictSame(Object.keys(headers), ['Cache-Control', 'ETag', 'Last-Modified'])
  t.strictSame(Object.keys(paths['/v1/carts/{id}'].get.responses[200].headers), ['Cache-Control', 'Last-Modified'])
  t.match(components.headers['Last-Modified'], { description: /If-Modified-Since and If-Unmodified-Since/, schema: { type: 'string' } })
})

t.test('describes the default caching of every GET, and ETag only for the changes that compare it [C1] [O1]', async (t) => {
  const { paths } = await documentOf({ errors, defaultCache: 'private' }, shop)
  const { get, post } = paths['/v1/orders']
  t.strictSame(names(get), ['If-None-Match', 'If-Modified-Since'])
  t.strictSame(Object.keys(get.responses[200].headers), ['Cache-Control', 'ETag'])
  t.strictSame(Object.keys(get.responses[304].headers), ['Cache-Control', 'ETag'])
  t.notOk(post.responses[201].headers['ETag'])
  t.ok(paths['/v1/orders/{id}'].patch.responses[200].headers['ETag'])
  t.notOk(paths['/v1/orders/{id}'].put.responses[200].headers?.['ETag'], 'the response to PUT has no ETag')
})

t.test('a route can describe additional headers of its success responses', async (t) => {
  const openapi = { errors: ['INSUFFICIENT_STOCK'], headers: { ETag: 'Mine.', 'X-Count': 'How many there are.' } }
  const { paths, components } = await documentOf({ errors }, (app) => {
    app.post('/v1/orders', { config: { openapi }, schema: { response: { 201: enveloped(Order) } }, handler })
  })
  const { responses } = paths['/v1/orders'].post
  t.match(responses[201].headers, { ETag: { $ref: '#/components/headers/ETag' }, 'X-Count': { $ref: '#/components/headers/X-Count' } })
  t.strictSame(components.headers['X-Count'], { description: 'How many there are.', schema: { type: 'string' } })
  t.match(components.headers['ETag'].description, /If-None-Match/)
  t.notOk(components.responses.InsufficientStock.headers)
})

const Reason = Type.Object({ reason: Type.Optional(Type.String()) })

for (const [what, body, config, published] of [
  ['accepts null', Type.Union([Reason, Type.Null()]), {}, { $ref: '#/components/schemas/NewCancellation' }],
  ['is nullable', { ...Reason, nullable: true }, {}, { $ref: '#/components/schemas/NewCancellation' }],
  ['accepts two kinds and null', { oneOf: [{ type: ['string', 'null'] }, { required: ['a'] }] }, {}, undefined],
  ['is declared optional', Reason, { openapi: { optionalBody: true } }, { $ref: '#/components/schemas/NewCancellation' }]
] as const) {
  t.test(`a request may omit a body that ${what}, and the description says so`, async (t) => {
    const { paths, components } = await documentOf({}, (app) => app.post('/v1/cancellations', { config, schema: { body }, handler }))
    const { required, content } = paths['/v1/cancellations'].post.requestBody
    t.equal(required, false)
    const { schema } = content['application/json']
    if (published === undefined) t.strictSame(schema, { $ref: '#/components/schemas/NewCancellation' })
    t.notMatch(JSON.stringify(components.schemas.NewCancellation), /null/)
  })
}

t.test('any other body is required', async (t) => {
  const { paths } = await documentOf({}, (app) => {
    app.post('/v1/cancellations', { schema: { body: Reason }, handler })
    const content = { 'application/json': { schema: { ...Reason, nullable: true } }, 'application/vnd.a+json': { schema: Reason } }
    app.put('/v1/cancellations', { schema: { body: { description: 'Either.', content } }, handler })
  })
  t.equal(paths['/v1/cancellations'].post.requestBody.required, true)
  t.match(paths['/v1/cancellations'].put.requestBody, { required: true, description: 'Either.' })
  t.strictSame(Object.keys(paths['/v1/cancellations'].put.requestBody.content), ['application/json', 'application/vnd.a+json'])
})

function additionalMethods(app: FastifyInstance) {
  app.addHttpMethod('PURGE')
  app.route({
    method: 'QUERY',
    url: '/v1/orders',
    config: { permissions: ['orders:read'], otherConfigKeys: ['permissions'] } as object,
    schema: { body: Type.Object({ total_min: Type.String() }), response: { 200: enveloped(Type.Array(Order)) } },
    handler
  })
  app.route({ method: 'PURGE', url: '/v1/orders/:id', handler })
  app.get('/v1/orders', {
    config: { permissions: ['orders:read'], otherConfigKeys: ['permissions'] } as object,
    schema: { response: { 200: enveloped(Type.Array(Order)) } },
    handler
  })
}

t.test(
  'operations with methods that OpenAPI 3.1 does not have are in the extension of the OpenAPI Initiative, and a sentence lists them',
  async (t) => {
    const document = await documentOf({}, additionalMethods)
    const { QUERY: query } = document.paths['/v1/orders']['x-oai-additionalOperations']
    t.match(query, {
      operationId: 'searchOrders',
      summary: 'Search orders',
      'x-permissions': ['orders:read'],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/OrderQuery' }, example: { total_min: 'Total min' } } }
      },
      responses: { 200: { description: 'A page of orders.' } }
    })
    t.strictSame(query.responses[200].content['application/json'].schema.properties.data.items, { $ref: '#/components/schemas/Order' })
    t.match(query.responses[200].content['application/json'].example._links, [
      { method: 'QUERY', href: 'https://api.example.com/v1/orders' }
    ])
    t.equal(document.paths['/v1/orders/{id}']['x-oai-additionalOperations'].PURGE.operationId, 'purgeOrder')
    t.match(
      document.info.description,
      /OpenAPI 3\.1 lists these operations in `x-oai-additionalOperations`: `QUERY \/v1\/orders`, `PURGE \/v1\/orders\/\{id\}`\.$/
    )
    t.equal((await new Validator().validate(structuredClone(document))).valid, true)

    t.strictSame(
      lintDocument(document)
        .filter(({ rule }) => rule === 'F1')
        .map(({ place }) => place),
      ['schema OrderQuery.total_min'],
      'lints read them'
    )
    const { 'x-oai-additionalOperations': _operations, ...others } = document.paths['/v1/orders']
    t.strictSame(breakingChanges(document, { ...document, paths: { ...document.paths, '/v1/orders': others } }), [
      { place: 'QUERY /v1/orders', problem: 'was removed' }
    ])
    const in32 = {
      ...document,
      openapi: '3.2.0',
      paths: {
        '/v1/orders': { ...others, query },
        '/v1/orders/{id}': { additionalOperations: { PURGE: document.paths['/v1/orders/{id}']['x-oai-additionalOperations'].PURGE } }
      }
    }
    t.strictSame(breakingChanges(document, in32), [], 'a document of OpenAPI 3.2 has the same operations')
    const received = { method: 'QUERY', url: '/v1/orders', status: 201, headers: {}, body: Buffer.from('') }
    t.strictSame(responseChecker(document)(received), ['QUERY /v1/orders 201: the status code is not described.'])
  }
)

t.test('describes a tag by the description of its resource and by its operations, or by its events [X3]', async (t) => {
  const event = {
    post: {
      tags: ['webhooks'],
      summary: 'Created',
      requestBody: { content: { 'image/png': {} } },
      responses: { 204: { description: 'Taken.' } }
    }
  }
  const { tags } = await documentOf({ webhooks: () => ({ 'order.created': event, 'order.paid': event }) }, (app) => {
    shop(app)
    app.get('/v1/orders/:id/items', { schema: { response: { 200: Type.Array(Type.Object({ id: Type.String() })) } }, handler })
    app.get('/v1/reports', { schema: { tags: ['statistics', 'money'] }, handler })
    app.get('/v1/sums', { schema: { tags: ['statistics'], summary: 'Add all up' }, handler })
    app.put('/v1/names', { schema: { operationId: 'rename' }, handler })
  })
  t.strictSame(Object.fromEntries(tags.map(({ name, description }: Loose) => [name, description])), {
    names: 'Replace a name.',
    orders: 'An order. List, get, create, replace, change and delete orders, and their images and items.',
    statistics: 'Get a report. Add all up.',
    money: 'Get a report.',
    webhooks: 'Events that the service sends to the URLs of subscribed clients: `order.created` and `order.paid`.'
  })
})

t.test('describes parameters, headers and cookies of routes, with references and unions', async (t) => {
  const { paths } = await documentOf({}, (app) => {
    app.addSchema({
      $id: 'paging',
      type: 'object',
      required: ['page'],
      properties: { page: { type: 'integer', description: 'The page.' } }
    })
    app.get('/v1/files/:area(^\\w+$)/v:major.:minor/*', {
      schema: {
        params: { type: 'object', properties: { area: { type: 'string', maxLength: 9 }, unknown: {} } },
        querystring: {
          allOf: [{ $ref: 'paging#' }],
          anyOf: [
            { type: 'object', required: ['by'], properties: { by: { type: 'array', items: { type: 'string' } } } },
            { type: 'object' }
          ]
        },
        headers: {
          type: 'object',
          required: ['x-trace'],
          properties: { 'x-trace': { type: 'string' }, accept: { type: 'string' }, authorization: { type: 'string' } }
        },
        cookies: { type: 'object', properties: { session: { type: 'string' } } },
        response: {
          200: {
            'x-response-description': 'A file.',
            headers: { 'X-Size': { type: 'integer', description: 'Its size.' }, 'X-Sum': { type: 'string' } },
            type: 'string'
          },
          '3xx': { type: 'null', description: 'Elsewhere.' },
          default: { type: 'string' }
        }
      },
      handler
    })
    app.get('/v1/files::count', handler)
  })
  const { parameters, responses } = paths['/v1/files/{area}/v{major}.{minor}/{*}'].get
  t.strictSame(
    parameters.map(({ in: where, name, required, description, schema }: Loose) => [where, name, required, description, schema]),
    [
      ['path', 'area', true, 'The path parameter area.', { type: 'string', maxLength: 9 }],
      ['path', 'major', true, 'The path parameter major.', { type: 'string', maxLength: 100 }],
      ['path', 'minor', true, 'The path parameter minor.', { type: 'string', maxLength: 100 }],
      ['path', '*', true, 'The path parameter *.', { type: 'string' }],
      ['query', 'by', false, undefined, { type: 'array', items: { type: 'string' } }],
      ['query', 'page', true, 'The page.', { type: 'integer' }],
      ['header', 'x-trace', true, undefined, { type: 'string' }],
      ['cookie', 'session', false, undefined, { type: 'string' }]
    ]
  )
  t.strictSame(responses, {
    200: {
      description: 'A file.',
      headers: { 'X-Size': { description: 'Its size.', schema: { type: 'integer' } }, 'X-Sum': { schema: { type: 'string' } } },
      content: { 'application/json': { schema: { type: 'string' }, example: 'Text' } }
    },
    '3XX': { description: 'Elsewhere.' },
    default: { description: 'The file.', content: { 'application/json': { schema: { type: 'string' }, example: 'Text' } } }
  })
  t.ok(paths['/v1/files:count'])
})

t.test('a body without a schema is described as what the route receives, by its media type', async (t) => {
  const form = { type: 'object', additionalProperties: true }
  const bodies: Readonly<Record<string, object>> = {
    'image/png': { type: 'string', format: 'binary' },
    'application/octet-stream': { type: 'string', format: 'binary' },
    'text/csv': { type: 'string' },
    'multipart/form-data': form,
    'application/x-www-form-urlencoded': form,
    'application/vnd.shop+json': {}
  }
  const { paths } = await documentOf({}, (app) => {
    app.post('/v1/things', { config: { consumes: Object.keys(bodies), otherConfigKeys: ['consumes'] } as object, handler })
  })
  const { content } = paths['/v1/things'].post.requestBody
  t.strictSame(Object.keys(content), Object.keys(bodies))
  for (const [type, schema] of Object.entries(bodies)) {
    const { description: _description, ...published } = content[type].schema
    t.strictSame(published, schema, type)
  }
})

t.test('only the GET of a collection is a list, whatever an array is in', async (t) => {
  const response = { 200: enveloped(Type.Array(Order)) }
  const { paths } = await documentOf({}, (app) => {
    app.get('/v1/orders', { schema: { response } }, handler)
    app.post('/v1/order-batches', { schema: { response } }, handler)
    app.get('/v1/order-exports/:id/files/:fileId', { schema: { response } }, handler)
    app.put('/v1/order-notes', { schema: { response } }, handler)
  })
  const operations = Object.values(paths).flatMap((item) => Object.values(item as Loose)) as Loose[]
  t.strictSame(
    operations.map(({ operationId, summary, responses }) => [operationId, summary, responses[200].description]),
    [
      ['createOrderBatch', 'Create an order batch', 'The order batch.'],
      ['getOrderExportFile', 'Get an order export file', 'The order export file.'],
      ['replaceOrderNote', 'Replace an order note', 'The order note.'],
      ['listOrders', 'List orders', 'A page of orders.']
    ]
  )
})
