import { type AddressInfo, connect } from 'node:net'
import errorCatalogue, {
  defineErrors,
  type ErrorCatalogueOptions,
  errorCatalogueServerOptions,
  problemTypeRoutes
} from '@concordat/error-catalogue'
import { movedDate } from '@concordat/test-harness/moved-date'
import Fastify from 'fastify'
import t, { type Test } from 'tap'

const publicUrl = 'https://api.example.com'
const problem = 'application/problem+json'
const asProblem = { accept: `${problem}, application/json;q=0.9` }
const uuid = /^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const shopErrors = defineErrors(
  {
    OUT_OF_STOCK: {
      statusCode: 409,
      message: { en: 'Only {left} are left. Order fewer.', es: 'Solo quedan {left}. Pida menos.' },
      remedy: 'Order fewer.'
    },
    UNKNOWN_PRODUCT: {
      statusCode: 422,
      validation: true,
      message: { en: 'A product is unknown.', es: 'Un producto es desconocido.' },
      remedy: 'Correct it.'
    }
  },
  { unknown: { en: 'is unknown', es: 'es desconocido' } }
)
const body = (payload: object, type = 'application/json') => ({
  method: 'POST',
  payload: JSON.stringify(payload),
  headers: { 'content-type': type }
})

const Line = {
  type: 'object',
  required: ['quantity'],
  properties: { 'a/b~c.d': { type: 'integer' }, quantity: { type: 'integer', minimum: 1 } }
}
const Lines = { type: 'object', required: ['lines'], properties: { lines: { type: 'array', items: Line } } }

async function start(t: Test, options: Partial<ErrorCatalogueOptions> = {}) {
  const app = Fastify({ ...errorCatalogueServerOptions(), exposeHeadRoutes: true })
  t.teardown(() => app.close())
  await app.register(errorCatalogue, { publicUrl, include: [shopErrors], problemDetails: ['/v2'], ...options })
  for (const prefix of ['/v1', '/v2']) {
    app.get(`${prefix}/sold`, async () => {
      throw shopErrors.create('OUT_OF_STOCK', { params: { left: 3 } })
    })
    app.post(`${prefix}/orders`, { schema: { body: Lines } }, async () => ({}))
    app.get(
      `${prefix}/orders`,
      {
        schema: {
          querystring: { type: 'object', properties: { page: { type: 'integer' }, ids: { type: 'array', items: { type: 'integer' } } } },
          headers: { type: 'object', properties: { 'x-limit': { type: 'integer' } } }
        }
      },
      async () => ({})
    )
    app.post(`${prefix}/fields`, async (request) => {
      throw shopErrors.create('UNKNOWN_PRODUCT', {
        errors: (request.body as { field: string; pointer?: string }[]).map((one) => ({ ...one, key: 'unknown' }))
      })
    })
    app.post(`${prefix}/sent`, async (request, reply) => {
      const { body, type, status = 409 } = request.body as { body: string; type: string; status?: number }
      return reply.code(status).type(type).send(body)
    })
  }
  if (options.problemDetails === undefined) await app.register(problemTypeRoutes)
  return app
}

t.test('an error is a problem document with the same code, text, language and outcome as the envelope [E4] [S3]', async (t) => {
  movedDate(t, Date.UTC(2026, 0, 2, 3, 4, 5))
  const app = await start(t)
  const response = await app.inject({ url: '/v2/sold', headers: asProblem })
  const { instance, ...others } = response.json()
  t.strictSame(others, {
    type: 'https://api.example.com/problem-types#OUT_OF_STOCK',
    title: 'Conflict',
    status: 409,
    detail: 'Only 3 are left. Order fewer.',
    code: 'OUT_OF_STOCK',
    retry: 'changed',
    effect: 'none',
    version: 'v1',
    timestamp: '2026-01-02T03:04:05.000Z'
  })
  t.match(instance, uuid)
  t.match(response, {
    statusCode: 409,
    headers: { 'content-type': problem, 'content-language': 'en', 'cache-control': 'no-store', vary: 'accept-language, accept' }
  })
  const again = (await app.inject({ url: '/v2/sold', headers: asProblem })).json()
  t.not(again.instance, instance, 'each response has an instance of its own')
  const { error } = (await app.inject('/v2/sold')).json()
  t.match(error, { error: 'Conflict', message: 'Only 3 are left. Order fewer.', code: 'OUT_OF_STOCK' })
  const head = await app.inject({ method: 'HEAD', url: '/v2/sold', headers: asProblem })
  t.match(head, { statusCode: 409, body: '', headers: { 'content-type': problem } })
})

// What a client accepts: a weight for each of the two types, by name, by a range, or not at all.
const weights = [undefined, 0, 0.5, 1] as const
const ranges = ['', ', */*', ', */*;q=0.7', ', application/*;q=0.3', ', text/html']

t.test('a problem document must be named, and weigh more than JSON does by its name or a range [N1]', async (t) => {
  const app = await start(t)
  let problems = 0
  for (const ofProblem of weights)
    for (const ofJson of weights)
      for (const range of ranges) {
        const named = [
          ['application/json', ofJson],
          ['Application/Problem+JSON', ofProblem]
        ].flatMap(([type, weight]) => (weight === undefined ? [] : [`${type};q=${weight}`]))
        const accept = [...named, ...(range === '' ? [] : [range.slice(2)])].join(', ')
        const rest = Number(/\*(?:;q=(.+))?$/.exec(range)?.[1] ?? (range.includes('*') ? 1 : 0))
        const isProblem = ofProblem !== undefined && ofProblem > (ofJson ?? rest)
        if (isProblem) problems += 1
        const { headers } = await app.inject({ url: '/v2/sold', headers: { accept } })
        t.equal(headers['content-type'], isProblem ? problem : 'application/json; charset=utf-8', accept)
      }
  t.equal(problems, 22)
  for (const accept of [
    '',
    '*/*',
    'application/*',
    'application/problem+xml',
    `${problem};q=x`,
    `${problem};charset=latin1`,
    `${problem}, ${'a'.repeat(2048)}`
  ])
    t.equal((await app.inject({ url: '/v2/sold', headers: { accept } })).headers['content-type'], 'application/json; charset=utf-8', accept)
})

t.test('every response below the paths varies by Accept, and nothing outside them is a problem document', async (t) => {
  const app = await start(t)
  for (const [method, url, status] of [
    ['GET', '/v2/orders', 200],
    ['HEAD', '/v2/orders', 200],
    ['GET', '/v2/orders?page=x', 422],
    ['GET', '/v2/unknown?a=1', 404],
    ['GET', '/v2', 404],
    ['GET', '/v2?a=1', 404],
    ['GET', '/v2/%zz', 400]
  ] as const) {
    const response = await app.inject({ method, url, headers: asProblem })
    t.equal(response.statusCode, status, url)
    t.match(response.headers['vary'], /\baccept(?!-)/, url)
    if (status >= 400) t.equal(response.headers['content-type'], problem, url)
  }
  for (const [url, status] of [
    ['/v1/orders', 200],
    ['/v1/orders?page=x', 422],
    ['/v22/orders', 404],
    ['/unknown', 404],
    ['/V2/orders', 404]
  ] as const) {
    const response = await app.inject({ url, headers: asProblem })
    t.equal(response.statusCode, status, url)
    t.notMatch(response.headers['vary'] ?? '', /\baccept(?!-)/, url)
    t.match(response.headers['content-type'], /^application\/json/, url)
  }
  const absolute = await app.inject({ url: 'http://localhost/v2/unknown', headers: asProblem })
  t.equal(absolute.headers['content-type'], problem)
})

t.test('bytes that are not HTTP get the envelope', async (t) => {
  const app = await start(t)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.end(`GET /v2/sold HTTP/1.1\r\nhost: localhost\r\naccept: ${problem}\r\nbad header\r\n\r\n`)
  const text = await new Promise<string>((resolve) => {
    let all = ''
    socket.on('data', (part) => (all += String(part))).on('close', () => resolve(all))
  })
  t.match(text, /^HTTP\/1\.1 400 [^]*content-type: application\/json[^]*"error":\{"status":400/)
})

t.test('a field has the pointer of the validator in a JSON body, and the parameter elsewhere', async (t) => {
  const app = await start(t)
  const errorsOf = async (url: string, more: object = {}) =>
    (await app.inject({ url, ...more, headers: { ...asProblem, ...(more as { headers?: object }).headers } })).json().errors

  t.strictSame(await errorsOf('/v2/orders', body({ lines: [{ 'a/b~c.d': 'x', quantity: 0 }], 'new name': 1 })), [
    { detail: 'must be of type integer', pointer: '#/lines/0/a~1b~0c.d' },
    { detail: 'must be at least 1', pointer: '#/lines/0/quantity' },
    { detail: 'is not a known field', pointer: '#/new%20name' }
  ])
  t.strictSame(await errorsOf('/v2/orders', body([])), [{ detail: 'must be of type object', pointer: '#' }])
  t.strictSame(await errorsOf('/v2/orders?page=x&ids=1&ids=b', { headers: { 'x-limit': '1' } }), [
    { detail: 'must be of type integer', parameter: 'ids', in: 'query' },
    { detail: 'must be of type integer', parameter: 'page', in: 'query' }
  ])
  t.strictSame(await errorsOf('/v2/orders', { headers: { 'x-limit': 'x' } }), [
    { detail: 'must be of type integer', parameter: 'x-limit', in: 'header' }
  ])
  const token = `rt_${'a'.repeat(40)}`
  t.strictSame(await errorsOf('/v2/orders', body({ lines: [], [token]: 1 })), [{ detail: 'is not a known field', field: 'body.(hidden)' }])
  const long = 'n'.repeat(2000)
  t.strictSame(await errorsOf('/v2/orders', body({ lines: [], [long]: 1 })), [
    { detail: 'is not a known field', field: `body.${long.slice(0, 251)}` }
  ])
  t.strictSame(await errorsOf('/v2/orders', body({ lines: [], '\u{d800}': 1 })), [
    { detail: 'must not contain a NUL character or an unpaired surrogate', field: 'body.\u{fffd}' }
  ])
})

t.test('a field of a handler has the pointer that the handler gives, and its dots are never split', async (t) => {
  const app = await start(t)
  const shown = async (given: object[], type = 'application/json') => {
    const response = await app.inject({
      method: 'POST',
      url: '/v2/fields',
      payload: JSON.stringify(given),
      headers: { ...asProblem, 'content-type': type }
    })
    return response.json().errors.map(({ detail: _detail, ...place }: { detail: string }) => place)
  }
  t.strictSame(
    await shown([
      { field: 'body.items.0.productId', pointer: '/items/0/productId' },
      { field: 'body.items.0.productId' },
      { field: 'body', pointer: '' },
      { field: 'body.a', pointer: 'a' },
      { field: 'query.sort' },
      { field: 'query.price.gte' },
      { field: 'query.price.gte', pointer: '/price.gte' },
      { field: 'path.id' },
      { field: 'header.accept' },
      { field: 'other' }
    ]),
    [
      { pointer: '#/items/0/productId' },
      { field: 'body.items.0.productId' },
      { pointer: '#' },
      { field: 'body.a' },
      { parameter: 'sort', in: 'query' },
      { field: 'query.price.gte' },
      { parameter: 'price.gte', in: 'query' },
      { parameter: 'id', in: 'path' },
      { parameter: 'accept', in: 'header' },
      { field: 'other' }
    ]
  )
  const envelope = await app.inject({ method: 'POST', url: '/v2/fields', payload: [{ field: 'body.a', pointer: '/a' }] })
  t.strictSame(envelope.json().error.errors, [{ field: 'body.a', message: 'is unknown' }], 'the envelope has no pointer')
})

t.test('a pointer is for JSON only: a field of another body has its name', async (t) => {
  const app = Fastify(errorCatalogueServerOptions())
  t.teardown(() => app.close())
  app.addContentTypeParser('text/csv', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  await app.register(errorCatalogue, { problemDetails: ['/'], include: [shopErrors] })
  app.post('/', async () => {
    throw shopErrors.create('UNKNOWN_PRODUCT', { errors: [{ field: 'body.file', pointer: '/file', key: 'unknown' }] })
  })
  await app.register(problemTypeRoutes)
  const response = await app.inject({ method: 'POST', url: '/', payload: 'a', headers: { ...asProblem, 'content-type': 'text/csv' } })
  t.strictSame(response.json().errors, [{ detail: 'is unknown', field: 'body.file' }])
})

t.test('a complete error that is sent again keeps the form it has, or gets the form that the client asks for', async (t) => {
  const app = await start(t)
  const errors = [
    { field: 'body.items.0.id', pointer: '/items/0/id' },
    { field: 'query.sort' },
    { field: 'header.x.y' },
    { field: 'body', pointer: '' }
  ]
  const make = async (headers: object) => {
    const { body, headers: sent } = await app.inject({ method: 'POST', url: '/v2/fields', payload: errors, headers: { ...headers } })
    return { body, type: String(sent['content-type']), status: 422 }
  }
  const envelope = await make({})
  const document = await make(asProblem)
  const again = (payload: object, headers = {}, version = 'v2') => app.inject({ method: 'POST', url: `/${version}/sent`, payload, headers })

  t.equal((await again(envelope)).body, envelope.body)
  t.equal((await again(document, asProblem)).body, document.body, 'with its instance')
  const converted = await again(document)
  t.equal(converted.headers['content-type'], 'application/json; charset=utf-8')
  t.strictSame(
    { ...converted.json(), _meta: undefined },
    { ...JSON.parse(envelope.body), _links: [{ rel: 'self', href: `${publicUrl}/v2/sent`, method: 'POST' }], _meta: undefined }
  )
  t.equal(converted.json()._meta.timestamp, JSON.parse(document.body).timestamp)
  const rendered = await again(envelope, asProblem)
  t.equal(rendered.headers['content-type'], problem)
  t.equal(rendered.headers['content-length'], String(Buffer.byteLength(rendered.body)))
  t.match(rendered.json().instance, uuid)
  const { instance: _own, timestamp: _time, errors: places, ...rest } = rendered.json()
  const { instance: _other, timestamp: _then, errors: _places, ...original } = JSON.parse(document.body)
  t.strictSame(rest, original)
  t.strictSame(
    places.map(({ detail: _detail, ...place }: { detail: string }) => place),
    [{ field: 'body.items.0.id' }, { parameter: 'sort', in: 'query' }, { field: 'header.x.y' }, { field: 'body' }],
    'an envelope has no pointers'
  )
  const odd = [
    [{ ...envelope, body: envelope.body.replace(/"errors":\[.*?\]/, '"errors":"x"') }, asProblem],
    [{ ...document, body: document.body.replace('#/items', '#%zz') }, {}]
  ] as const
  for (const [sent, headers] of odd) t.equal((await again(sent, headers)).body, sent.body, 'what cannot be rendered stays')
  const outside = await again(document, asProblem, 'v1')
  t.match(outside.json(), { error: { code: 'UNKNOWN_PRODUCT' } }, 'outside the paths it becomes the envelope too')
  for (const broken of [
    { ...JSON.parse(document.body), detail: 1 },
    { ...JSON.parse(document.body), status: 400 },
    { title: 'foreign', status: 422 }
  ]) {
    const replaced = await again({ ...document, body: JSON.stringify(broken) }, asProblem)
    t.match(replaced.json(), { code: 'VALIDATION_FAILED', status: 422 }, 'a foreign problem document is replaced')
  }
})

t.test('the types lead to the catalogue, and a code that it does not have is about:blank', async (t) => {
  const app = await start(t)
  const { type } = (await app.inject({ url: '/v2/sold', headers: asProblem })).json()
  const { problemTypes } = (await app.inject(type.replace(publicUrl, ''))).json()
  t.strictSame(
    problemTypes.map(({ code }: { code: string }) => code),
    app.errorCatalogue.entries.map(({ code }) => code)
  )
  t.strictSame(
    problemTypes.find((one: { type: string }) => one.type === type),
    { type, title: 'Conflict', status: 409, code: 'OUT_OF_STOCK', retry: 'changed', remedy: 'Order fewer.' }
  )
  t.match(
    problemTypes.find(({ code }: { code: string }) => code === 'UNKNOWN_PRODUCT'),
    { title: 'ValidationError', status: 422 }
  )
  const teapot = await app.inject({
    method: 'POST',
    url: '/v2/sent',
    payload: { body: 'x', type: 'text/plain', status: 418 },
    headers: asProblem
  })
  t.match(teapot.json(), { type: 'about:blank', status: 418, code: 'I_M_A_TEAPOT', title: "I'm a Teapot" })
})

t.test('in a child context, the types are below its prefix', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(
    async (shop) => {
      await shop.register(errorCatalogue, { publicUrl, problemDetails: ['/shop/api'] })
      shop.get('/api/fails', async () => {
        throw new Error('fails')
      })
      await shop.register(problemTypeRoutes)
    },
    { prefix: '/shop' }
  )
  const { type } = (await app.inject({ url: '/shop/api/fails', headers: asProblem })).json()
  t.equal(type, 'https://api.example.com/shop/problem-types#INTERNAL_ERROR')
  t.match((await app.inject('/shop/problem-types')).json().problemTypes[0], {
    type: /^https:\/\/api\.example\.com\/shop\/problem-types#[A-Z_]+$/
  })
})

t.test('misuse stops the start with one line', async (t) => {
  for (const problemDetails of ['/v2', ['v2'], ['/v2/:id'], [2]] as unknown as readonly string[][])
    await t.rejects(start(t, { problemDetails }), { message: /^error-catalogue: options\.problemDetails must be an array of paths/ })
  const lacksRoute = await start(t, { problemDetails: ['/v2/'] })
  await t.rejects(async () => lacksRoute.ready(), {
    message: /no route serves \/problem-types, .* Register problemTypeRoutes after the other plugins/
  })
  const lacksUse = await start(t, { problemDetails: ['/v2', '/v3'] })
  await t.rejects(async () => lacksUse.ready(), { message: /options\.problemDetails has \/v3, and no route is below it/ })
  const off = Fastify(errorCatalogueServerOptions())
  await off.register(errorCatalogue)
  await t.rejects(async () => off.register(problemTypeRoutes), { message: /problemTypeRoutes needs options\.problemDetails/ })
})
