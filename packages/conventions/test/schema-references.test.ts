// Every place where a schema enters a description, with references of every kind, written with each schema library: the references of the published
// document lead to a schema, the published schema accepts what the service accepts, and the service refuses what the schema refuses.
import { ownTokens } from '@concordat/authentication'
import { testKit } from '@concordat/authentication/testing'
import conventions, { serverOptions, webhookRoutes } from '@concordat/conventions'
import { defineJob, jobRecordSchema } from '@concordat/jobs'
import { lintDocument } from '@concordat/openapi/lint'
import { collection } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { withJsonSchema } from '@concordat/standard-schema'
import { Type } from '@sinclair/typebox'
import { toJsonSchema } from '@valibot/to-json-schema'
import { Ajv2020 } from 'ajv/dist/2020.js'
import Fastify from 'fastify'
import t from 'tap'
import * as TypeBox1 from 'typebox'
import * as v from 'valibot'
import { z } from 'zod'

// The tests read documents of any shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any

const issuer = 'https://tokens.example.com'
const kit = testKit({ issuer, audience: 'shop' })
const authorization = `Bearer ${kit.token({ scope: 'things:use' })}`

/** A schema as a route has it, and as JSON Schema for what is validated outside of routes; and the schema of a list. */
interface Form {
  readonly route: object
  readonly json: object
  readonly list: object
}

type Json = Readonly<Record<string, object>>
const ofJson = (schema: object, definitions: Json = {}, keyword = '$defs'): Form => {
  const json = { ...schema, ...(Object.keys(definitions).length > 0 && { [keyword]: definitions }) }
  // In a list, the schema is a definition like the others.
  const list = { type: 'array', items: { $ref: `#/${keyword}/Thing` }, [keyword]: { ...definitions, Thing: schema } }
  return { route: json, json, list: JSON.parse(JSON.stringify(list).replaceAll('"#"', `"#/${keyword}/Thing"`)) }
}
const ofTypeBox = (schema: object, list: object): Form => ({ route: schema, json: schema, list })
const ofZod = (schema: z.ZodType): Form => ({ route: schema, json: z.toJSONSchema(schema), list: z.array(schema) })
const ofValibot = (schema: v.GenericSchema, definitions: Record<string, v.GenericSchema>): Form => {
  const convert = (one: v.GenericSchema) => withJsonSchema(one as never, () => toJsonSchema(one, { definitions }))
  return { route: convert(schema), json: toJsonSchema(schema, { definitions }), list: convert(v.array(schema)) }
}

const limits = { minLength: 2, maxLength: 3, pattern: '^[A-Z]+$' }
const code = { type: 'string', ...limits }
const codeReference = (reference: string, more: object = {}) => ({
  type: 'object',
  required: ['id', 'code'],
  properties: { id: { type: 'string' }, code: { $ref: reference }, ...more }
})
const boxCode = Type.String(limits)
const boxModule = Type.Module({ Code: boxCode, Thing: Type.Object({ id: Type.String(), code: Type.Ref('Code') }) }).Import('Thing')
const boxNode = Type.Recursive((This) => Type.Object({ id: Type.String(), code: boxCode, next: Type.Optional(This) }))
const boxShared = Type.Object({ id: Type.String(), code: Type.Ref('code') })
const box1Code = TypeBox1.String(limits)
const box1Local = TypeBox1.Cyclic(
  { Code: box1Code, Thing: TypeBox1.Object({ id: TypeBox1.String(), code: TypeBox1.Ref('Code') }) },
  'Thing'
)
const box1Node = TypeBox1.Cyclic(
  { Thing: TypeBox1.Object({ id: TypeBox1.String(), code: box1Code, next: TypeBox1.Optional(TypeBox1.Ref('Thing')) }) },
  'Thing'
)
const box1Shared = TypeBox1.Object({ id: TypeBox1.String(), code: TypeBox1.Ref('code') })
const zodCode = z
  .string()
  .min(2)
  .max(3)
  .regex(/^[A-Z]+$/)
  .meta({ id: 'Code' })
const zodNode = z.object({
  id: z.string(),
  code: zodCode,
  get next() {
    return zodNode.optional()
  }
})
const valibotCode = v.pipe(v.string(), v.minLength(2), v.maxLength(3), v.regex(/^[A-Z]+$/))
const valibotNode: v.GenericSchema = v.object({ id: v.string(), code: valibotCode, next: v.optional(v.lazy(() => valibotNode)) })

/** The schema of `{ id, code }`, and of `{ id, code, next }` where it is recursive, by library and kind of reference. */
const libraries: Readonly<Record<string, Readonly<Record<'local' | 'recursive' | 'shared', Form>>>> = {
  'JSON Schema': {
    local: ofJson(codeReference('#/$defs/Code'), { Code: code }),
    recursive: ofJson(codeReference('#/$defs/Code', { next: { $ref: '#' } }), { Code: code }),
    shared: ofJson(codeReference('code#'))
  },
  'JSON Schema of draft 7': {
    local: ofJson(codeReference('#/definitions/Code'), { Code: { $ref: '#/definitions/Text' }, Text: code }, 'definitions'),
    recursive: ofJson(
      { $ref: '#/definitions/Node' },
      { Code: code, Node: codeReference('#/definitions/Code', { next: { $ref: '#/definitions/Node' } }) },
      'definitions'
    ),
    shared: ofJson(codeReference('codes#/definitions/Code'))
  },
  'TypeBox 0.34': {
    local: ofTypeBox(boxModule, Type.Array(boxModule)),
    recursive: ofTypeBox(boxNode, Type.Array(boxNode)),
    shared: ofTypeBox(boxShared, Type.Array(boxShared))
  },
  'TypeBox 1': {
    local: ofTypeBox(box1Local, TypeBox1.Array(box1Local)),
    recursive: ofTypeBox(box1Node, TypeBox1.Array(box1Node)),
    shared: ofTypeBox(box1Shared, TypeBox1.Array(box1Shared))
  },
  Zod: {
    local: ofZod(z.object({ id: z.string(), code: zodCode })),
    recursive: ofZod(zodNode),
    shared: ofZod(z.object({ id: z.string(), code: zodCode, other: zodCode.optional() }))
  },
  Valibot: {
    local: ofValibot(v.object({ id: v.string(), code: valibotCode }), { Code: valibotCode }),
    recursive: ofValibot(valibotNode, { Code: valibotCode, Node: valibotNode }),
    shared: ofValibot(v.object({ id: v.string(), code: valibotCode, other: v.optional(valibotCode) }), { Code: valibotCode })
  }
}

const isRecursive = (kind: string) => kind === 'recursive'
const valid = (kind: string) => ({ id: '7', code: 'AB', ...(isRecursive(kind) && { next: { id: '8', code: 'CD' } }) })
const invalid = (kind: string) => (isRecursive(kind) ? { id: '7', code: 'AB', next: { id: '8', code: 'c' } } : { id: '7', code: 'c' })

/** Returns a service in which the schema is everywhere. */
async function start({ route: Thing, json, list }: Form, kind: string) {
  const example = valid(kind)
  const send = async () => example
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  app.addSchema({ $id: 'code', ...code })
  app.addSchema({ $id: 'codes', definitions: { Code: code } })
  const event = { schema: json, example }
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: {}, 2: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: {
      issuers: [ownTokens({ issuer, audience: 'shop', keys: kit.keys })],
      permissions: ['things:use', 'webhooks:read', 'webhooks:create', 'webhooks:update', 'webhooks:delete']
    },
    paginationQuery: { cursor: { secrets: ['fJ2mYp7Qw4Zt9LxN8vBc3KdR6sHg1TaE'] } },
    webhooks: {
      events: {
        'thing.created': { description: 'A thing exists.', ...event, versions: { 2: { ...event, represent: (data: unknown) => data } } }
      },
      mayReceive: 'everyone',
      worker: false
    },
    jobs: {}
  })
  const config = { permissions: ['things:use'], idempotency: 'off', waivers: { Q10: 'A test.', M11: 'A test.' } } as const
  const job = defineJob({ name: 'thing-job', input: json, result: json, handler: async () => example })
  await app.apiVersion(1, async (v1) => {
    await v1.register(webhookRoutes)
    v1.post('/bodies', { config, schema: { body: Thing, response: { 200: Thing } } }, send)
    v1.post(
      '/typed-bodies',
      {
        config,
        schema: {
          body: { content: { 'application/json': { schema: Thing } } },
          response: { 200: { content: { 'application/json': { schema: Thing } } } }
        }
      },
      send
    )
    if (!isRecursive(kind)) {
      v1.get('/queries', { config, schema: { querystring: Thing, response: { 200: Thing } } }, send)
      v1.get('/places/:id/codes/:code', { config, schema: { params: Thing, response: { 200: Thing } } }, send)
      v1.get('/headers', { config, schema: { headers: Thing, response: { 200: Thing } } }, send)
    }
    v1.get('/lists', { config, schema: { response: { 200: list } } }, async () => [example])
    v1.get(
      '/sent-headers',
      { config, schema: { response: { 200: { type: 'object', properties: {}, headers: { 'X-Code': json } } } } },
      async () => ({})
    )
    const things = collection(json)({ name: 'things', style: 'page', id: 'id', defaultSort: ['id'], sort: { keys: ['id'] } })
    v1.get('/things', { config: { ...config, collection: things }, schema: { response: { 200: list } } }, async (request, reply) =>
      reply.page(runArray([example], request.listQuery(things)))
    )
    v1.jobs.serve(job, '/jobs', { config })
    v1.post(
      '/jobs',
      { config: { ...config, job: 'start' }, schema: { body: json, response: { '2xx': jobRecordSchema } } },
      async (request, reply) => reply.accepted(job as never, request.body)
    )
    v1.batch('/batches', { paths: ['/bodies'], config })
  })
  await app.ready()
  return app
}

/** Returns the published schema of each place, by name. */
function placesOf(document: Loose): Readonly<Record<string, Loose>> {
  const { paths, components } = document
  const follow = (one: Loose): Loose => (one?.$ref === undefined ? one : follow(components.schemas[one.$ref.split('/').at(-1)]))
  const json = (holder: Loose) => holder.content['application/json'].schema
  const data = (operation: Loose) => follow(json(operation.responses['200'])).properties.data
  const members = (operation: Loose) => ({
    type: 'object',
    required: ['id', 'code'],
    properties: Object.fromEntries(operation.parameters.map(({ name, schema }: Loose) => [name, schema]))
  })
  const parts = { query: paths['/v1/queries'], path: paths['/v1/places/{id}/codes/{code}'], header: paths['/v1/headers'] }
  return {
    body: json(paths['/v1/bodies'].post.requestBody),
    'body by media type': json(paths['/v1/typed-bodies'].post.requestBody),
    response: data(paths['/v1/bodies'].post),
    'response by media type': data(paths['/v1/typed-bodies'].post),
    'list in a response': data(paths['/v1/lists'].get).items,
    'header of a response': paths['/v1/sent-headers'].get.responses['200'].headers['X-Code'].schema,
    'item of a collection': follow(data(paths['/v1/things'].get)).items.anyOf[0],
    'input of a job': json(paths['/v1/jobs'].post.requestBody),
    'result of a job': data(paths['/v1/jobs/{id}/result'].get),
    event: eventOf(document),
    ...Object.fromEntries(Object.entries(parts).flatMap(([name, item]) => (item ? [[name, members(item.get)]] : [])))
  }
}

for (const [library, forms] of Object.entries(libraries))
  for (const [kind, form] of Object.entries(forms))
    t.test(`${library}, ${kind} references: the description and the checks agree in every place [V7]`, async (t) => {
      const app = await start(form, kind)
      const [good, bad] = [valid(kind), invalid(kind)]
      const documents: Loose[] = await Promise.all([1, 2].map(async (number) => (await app.inject(`/v${number}/openapi`)).json()))
      t.strictSame(documents.flatMap(({ webhooks }) => Object.keys(webhooks).filter((type) => type === 'thing.created')).length, 2)
      for (const document of documents) {
        t.strictSame(lintDocument(document, { waive: { Q10: 'A test.' } }), [])
        const published = document.info.version === '1.0.0' ? placesOf(document) : { event: eventOf(document) }
        const ajv = new Ajv2020({ strict: false, validateSchema: false, formats: { 'date-time': true, uri: true } })
        ajv.addSchema({ $id: 'document', components: document.components })
        for (const [place, schema] of Object.entries(published)) {
          const rooted = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/'))
          t.ok(ajv.validate(rooted, good), `the published schema accepts the ${place}`)
          t.notOk(ajv.validate(rooted, bad), `the published schema refuses the ${place}`)
        }
      }

      const call = async (method: 'GET' | 'POST', url: string, payload?: object, headers: Record<string, string> = {}) => {
        const response = await app.inject({ method, url, headers: { authorization, ...headers }, ...(payload && { payload }) })
        return { status: response.statusCode, body: response.json() }
      }
      for (const url of ['/v1/bodies', '/v1/typed-bodies']) {
        t.match(await call('POST', url, good), { status: 200, body: { data: good } })
        t.match(await call('POST', url, bad), { status: 422 })
      }
      t.match(await call('GET', '/v1/lists'), { status: 200, body: { data: [good] } })
      t.match(await call('GET', '/v1/things'), { status: 200, body: { data: [good] } })
      if (!isRecursive(kind))
        for (const [value, { code: text }] of [
          [true, good],
          [false, bad]
        ] as const) {
          t.match(await call('GET', `/v1/queries?id=7&code=${text}`), { status: value ? 200 : 422 })
          t.match(await call('GET', `/v1/places/7/codes/${text}`), { status: value ? 200 : 404 })
          t.match(await call('GET', '/v1/headers', undefined, { id: '7', code: text }), { status: value ? 200 : 422 })
        }
      const operations = [good, bad].map((body, index) => ({ id: String(index), method: 'POST', path: '/v1/bodies', body }))
      t.match(await call('POST', '/v1/batches', { operations }), { status: 200, body: { data: [{ status: 200 }, { status: 422 }] } })
      t.match(await call('POST', '/v1/jobs', bad), { status: 422 })
      const accepted = await call('POST', '/v1/jobs', good, { prefer: 'wait=5' })
      t.match(accepted, { status: 200, body: { data: { status: 'completed' } } })
      const result = await call('GET', `/v1/jobs/${accepted.body.data.jobId}/result`)
      t.match(result, { status: 200, body: { data: good } })
      await app.webhooks.emit('thing.created', good)
      await t.rejects(app.webhooks.emit('thing.created', bad), { message: /does not match its schema/ })
    })

function eventOf({ webhooks, components }: Loose): Loose {
  const [, name] = /([^/]+)$/.exec(webhooks['thing.created'].post.requestBody.content['application/json'].schema.$ref) ?? []
  return components.schemas[String(name)].properties.data
}
