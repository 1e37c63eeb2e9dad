import openapi from '@concordat/openapi'
import { publish } from '@concordat/plugin-kit/wiring'
import { movedDate } from '@concordat/test-harness/moved-date'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Type } from '@sinclair/typebox'
import { Spectral } from '@stoplight/spectral-core'
import { oas } from '@stoplight/spectral-rulesets'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import Fastify from 'fastify'
import t from 'tap'
import { documentOf, errors, handler, type Loose, Order, shop } from './shop.ts'

const about = {
  title: 'Shop',
  contact: { name: 'Shop', url: 'https://shop.example' },
  license: { name: 'MIT', url: 'https://shop.example/license' }
}

const event = (type: string, data: object) => ({
  post: {
    operationId: `webhook.${type}`,
    summary: type,
    description: 'It happened.',
    tags: ['webhooks'],
    security: [],
    requestBody: {
      content: { 'application/json': { schema: { type: 'object', properties: { type: { type: 'string', const: type }, ...data } } } }
    },
    responses: { 204: { description: 'Taken.' } }
  }
})

/** The events of version 1: about a resource of the document, about something else, without data, and without a body. */
function webhooks(version: number): Loose {
  if (version > 1) return undefined
  const known = { name: Type.String(), happened_at: Type.String({ format: 'date-time' }) }
  const silent = { post: { ...event('time.over', {}).post, requestBody: undefined } }
  return {
    'order.created': event('order.created', { data: Order }),
    'order.lost': event('order.lost', { data: Type.Object(known) }),
    'day.begun': event('day.begun', {}),
    'time.over': JSON.parse(JSON.stringify(silent))
  }
}

const everything = {
  ...about,
  publicUrl: 'https://shop.example',
  errors,
  webhooks,
  errorsOf: () => ['RESOURCE_NOT_FOUND', 'VALIDATION_FAILED', 'TOKEN_EXPIRED']
}

t.test('serves a JSON document per version with stock Fastify, without routes that are not part of the version [V7]', async (t) => {
  const app = Fastify()
  await app.register(openapi, { versions: { 1: {}, 2: {} }, lint: 'off' })
  app.get('/v1/orders', handler)
  app.get('/v2/orders/:id', handler)
  app.get('/v2/secrets', { config: { openapi: false } }, handler)
  const hidden: object = { hide: true }
  app.get('/v2/hidden', { schema: hidden }, handler)
  app.options('/v2/orders', handler)
  app.get('/elsewhere', handler)
  const [first, second] = [await app.inject('/v1/openapi'), await app.inject('/v2/openapi')]
  t.match(first.headers['content-type'], /^application\/json/)
  t.strictSame(Object.keys(first.json().paths), ['/v1/orders'])
  t.strictSame(Object.keys(second.json().paths), ['/v2/orders/{id}'])
  t.strictSame(Object.keys(second.json().paths['/v2/orders/{id}']), ['get'])
  t.match(second.json(), { openapi: '3.1.1', info: { title: 'API', version: '2.0.0' }, servers: [{ url: '/' }] })
  t.equal((await app.inject('/v3/openapi')).statusCode, 404)
})

t.test('serves the documents and lists the paths below the prefix of the plugin', async (t) => {
  const app = Fastify()
  await app.register(
    async (child) => {
      await child.register(openapi, { lint: 'off' })
      child.get('/v1/orders', handler)
    },
    { prefix: '/shop' }
  )
  t.strictSame(Object.keys((await app.inject('/shop/v1/openapi')).json().paths), ['/shop/v1/orders'])
})

t.test('the document is valid for Redocly, Spectral and the schema of OpenAPI 3.1', async (t) => {
  const document = await documentOf(everything, shop)
  const validated = await new Validator().validate(structuredClone(document))
  t.strictSame(validated.errors ?? [], [])
  t.equal(validated.valid, true)
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source: JSON.stringify(document), config })
  t.strictSame(
    problems.map(({ ruleId, message, location }) => `${ruleId} ${message} ${location[0]?.pointer}`),
    []
  )
  const spectral = new Spectral()
  spectral.setRuleset({ extends: [oas] } as Loose)
  const results = await spectral.run(JSON.stringify(document))
  t.strictSame(
    results.map(({ code, message, path }) => `${code} ${message} ${path.join('/')}`),
    []
  )
})

t.test('every example is valid for its schema', async (t) => {
  const document = await documentOf(everything, shop)
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  let checked = 0
  const visit = (value: Loose) => {
    if (typeof value !== 'object' || value === null) return
    if (value.schema !== undefined && (value.example !== undefined || value.examples !== undefined)) {
      const validate = ajv.compile({ ...value.schema, components: document.components })
      const examples = value.example === undefined ? Object.values(value.examples).map((one: Loose) => one.value) : [value.example]
      for (const example of examples) {
        checked += 1
        t.ok(validate(example), JSON.stringify([validate.errors, example]))
      }
    }
    for (const inner of Object.values(value)) visit(inner)
  }
  visit(document)
  t.ok(checked > 13, `${checked} examples`)
})

t.test('names resources for client generators, and lists the same shape only once under a name', async (t) => {
  const { components, paths } = await documentOf(everything, shop)
  t.strictSame(
    Object.keys(components.schemas).filter((name) => !['ErrorDetail', 'FieldError', 'Link', 'Meta'].includes(name)),
    [
      'DayBegunEvent',
      'ListMeta',
      'NewOrder',
      'Order',
      'OrderChanges',
      'OrderCreatedEvent',
      'OrderImage',
      'OrderLostEvent',
      'OrderLostEventData',
      'OrderReplacement',
      'Pagination',
      'PartialOrder'
    ]
  )
  const get = paths['/v1/orders/{id}'].get.responses[200].content['application/json'].schema
  t.strictSame(get.properties.data, { $ref: '#/components/schemas/Order' })
  t.strictSame(get.properties._meta, { $ref: '#/components/schemas/Meta' })
  t.strictSame(get.properties._links, { type: 'array', items: { $ref: '#/components/schemas/Link' } })
  t.strictSame(components.schemas.Order.properties.status, { type: 'string', enum: ['pending', 'paid'] })
  t.equal(paths['/v1/orders/{id}'].get.operationId, 'getOrder')
  t.equal(paths['/v1/orders'].get.operationId, 'listOrders')
})

t.test(
  'lists the events of each version under webhooks, with examples and references to the resources of the operations [V7]',
  async (t) => {
    const document = await documentOf(everything, shop)
    t.strictSame(Object.keys(document.webhooks), ['order.created', 'order.lost', 'day.begun', 'time.over'])
    t.ok(document.tags.some(({ name }: Loose) => name === 'webhooks'))
    const { schema, example } = document.webhooks['order.created'].post.requestBody.content['application/json']
    t.strictSame(schema, { $ref: '#/components/schemas/OrderCreatedEvent' })
    const { type, data } = document.components.schemas.OrderCreatedEvent.properties
    t.strictSame([type.const, data], ['order.created', { $ref: '#/components/schemas/Order' }])
    t.match(example, { type: 'order.created', data: { id: String, total: '12.50' } })
    t.notOk('webhooks' in (await documentOf({ ...everything, versions: { 1: {}, 2: {} } }, shop, 2)))
  }
)

t.test('lints the bodies of events like those of responses [F1]', async (t) => {
  const app = Fastify()
  publish(app, { webhookEvents: webhooks })
  await app.register(openapi, { ...about, publicUrl: everything.publicUrl, reference: false })
  await t.rejects(async () => app.ready(), /F1.*OrderLostEvent.*"happened_at" is not in camelCase/s)
})

t.test('describes the dates of deprecation and retirement, and marks operations as deprecated from that date on [V5] [V6]', async (t) => {
  const ending = { deprecatedAt: '2027-01-01T00:00:00Z', sunsetAt: '2027-12-31T00:00:00Z', documentation: 'https://shop.example/moving' }
  const clock = movedDate(t, Date.parse('2026-12-31T23:59:59Z'))
  const app = Fastify()
  await app.register(openapi, { versions: { 1: ending, 2: {}, 3: { ...ending, documentation: undefined } }, lint: 'off' })
  app.get('/v1/orders', handler)
  app.get('/v3/orders', handler)
  const before = (await app.inject('/v1/openapi')).json()
  t.equal(before.paths['/v1/orders'].get.deprecated, undefined)
  t.match(before.paths['/v1/orders'].get.description, /deprecated from 2027-01-01 and retired on 2027-12-31/)
  t.match(before, {
    'x-deprecated-at': '2027-01-01T00:00:00.000Z',
    'x-sunset': '2027-12-31T00:00:00.000Z',
    'x-migration': 'https://shop.example/moving'
  })
  t.hasProps(before.paths['/v1/orders'].get.responses[200].headers, ['Deprecation', 'Sunset', 'Link'])
  clock.now += 1000
  const after = (await app.inject('/v1/openapi')).json()
  t.equal(after.paths['/v1/orders'].get.deprecated, true)
  t.strictSame((await app.inject('/v1/openapi')).json(), after)
  t.notHas((await app.inject('/v3/openapi')).json(), { 'x-migration': String })
})
