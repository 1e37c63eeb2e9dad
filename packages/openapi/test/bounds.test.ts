import openapi from '@concordat/openapi'
import { breakingChanges, type OpenapiDocument } from '@concordat/openapi/diff'
import { publish } from '@concordat/plugin-wiring'
import Fastify from 'fastify'
import t from 'tap'

type Schema = Readonly<Record<string, unknown>>

const uuid = { type: 'string', format: 'uuid' }
const operations: Schema = { 'x-pagination': { style: 'page', maxOffset: 10_000 }, 'x-filterable': { name: ['eq', 'in'], total: ['gt'] } }

/** Returns a document with one operation that has a parameter with a schema, and a body with the same schema. */
function documentOf(where: string, name: string, schema: Schema, body: Schema = {}): OpenapiDocument {
  const content = { 'application/json': { schema: { type: 'object', properties: { value: body } } } }
  const parameters = [{ in: where, name, schema }]
  const operation = { ...operations, parameters, requestBody: { content }, responses: { 200: { description: 'Done.', content } } }
  return { openapi: '3.1.1', info: { title: 'T', version: '1' }, paths: { '/v1/things': { get: operation } } } as unknown as OpenapiDocument
}

// The place, the released schema, the published one, and one that is tighter than what was enforced.
const parameters: readonly (readonly [where: string, name: string, released: Schema, published: Schema, tighter: Schema])[] = [
  ...(
    [
      ['Accept-Language', 2048],
      ['If-Match', 4096],
      ['If-None-Match', 4096],
      ['If-Modified-Since', 33],
      ['Prefer', 2048]
    ] as const
  ).map(([name, maxLength]) => ['header', name, {}, { maxLength }, { maxLength: maxLength - 1 }] as const),
  ['path', 'id', {}, { maxLength: 100 }, { maxLength: 99 }],
  ['query', 'name', {}, { maxLength: 1024 }, { maxLength: 1023 }],
  ...(
    [
      ['uuid', 36],
      ['date', 10],
      ['date-time', 32],
      ['decimal', 62],
      ['int64', 20]
    ] as const
  ).map(([format, maxLength]) => ['query', 'total[gt]', { format }, { format, maxLength }, { format, maxLength: maxLength - 1 }] as const)
].map(([where, name, ...schemas]) => [where, name, ...schemas.map((schema) => ({ type: 'string', ...(schema as Schema) }))] as never)

t.test('the publication of a bound that was enforced before is not a breaking change, and a tighter bound is [V3] [V4]', async (t) => {
  for (const [where, name, released, published, tighter] of parameters) {
    const [old, now, less] = [released, published, tighter].map((schema) => documentOf(where, name, schema)) as [
      OpenapiDocument,
      OpenapiDocument,
      OpenapiDocument
    ]
    const place = `${where} ${name} ${String(released['format'])}`
    t.strictSame(breakingChanges(old, now), [], place)
    t.equal(breakingChanges(old, less).length, 1, place)
    t.equal(breakingChanges(now, less).length, 1, place)
  }
})

const list = (items: Schema): Schema => ({ type: 'array', items: { type: 'string', ...items } })
const page = (maximum?: number): Schema => ({ type: 'integer', minimum: 1, ...(maximum !== undefined && { maximum, format: 'int32' }) })
t.test('the same applies to the items of a filter, to page numbers, and to the values of bodies', async (t) => {
  const cases: readonly (readonly [OpenapiDocument, OpenapiDocument, OpenapiDocument])[] = [
    [list({}), list({ maxLength: 1024 }), list({ maxLength: 10 })].map((schema) => documentOf('query', 'name[in]', schema)) as never,
    [page(), page(10_000), page(9999)].map((schema) => documentOf('query', 'page', schema)) as never,
    [uuid, { ...uuid, maxLength: 45 }, { ...uuid, maxLength: 35 }].map((body) => documentOf('query', 'q', {}, body)) as never,
    [
      { type: 'integer' },
      { type: 'integer', format: 'int64', minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
      { type: 'integer', format: 'int32', minimum: 0, maximum: 100 }
    ].map((body) => documentOf('query', 'q', {}, body)) as never
  ]
  for (const [old, now, less] of cases) {
    t.strictSame(breakingChanges(old, now), [])
    t.not(breakingChanges(old, less).length, 0)
    t.strictSame(breakingChanges(now, old), [])
  }
})

t.test(
  'publishes the bounds of values and path parameters that error-catalogue and the router enforce, and nothing that is not enforced',
  async (t) => {
    for (const enforces of [true, false]) {
      const app = Fastify({ routerOptions: { maxParamLength: 256 } })
      if (enforces) publish(app, { maxUriLength: 8192 })
      await app.register(openapi, { lint: 'off', reference: false })
      const integer = { type: 'integer' }
      const properties = {
        id: uuid,
        count: integer,
        year: { ...integer, minimum: 0, maximum: 9999 },
        at: { type: ['string', 'null'], format: 'date-time' }
      }
      app.post('/v1/things/:id', { schema: { body: { type: 'object', properties } } }, async () => '')
      const { paths, components } = (await app.inject('/v1/openapi')).json()
      const { parameters } = paths['/v1/things/{id}'].post
      t.equal(parameters[0].schema.maxLength, 256)
      const { count, id, year, at } = components.schemas.NewThing.properties
      const largest = Number.MAX_SAFE_INTEGER
      if (!enforces) t.strictSame({ count, id, year, at }, { count: properties.count, id: uuid, year: properties.year, at: properties.at })
      else {
        t.strictSame(count, { minimum: -largest, maximum: largest, type: 'integer', format: 'int64' })
        t.strictSame([id.maxLength, at.maxLength, year.format], [45, 64, 'int32'])
      }
      await app.close()
    }
  }
)
