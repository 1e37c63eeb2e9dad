import conventions, { serverOptions } from '@concordat/conventions'
import { collection } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import standardSchema from '@concordat/standard-schema'
import { Type } from '@sinclair/typebox'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import * as TypeBox1 from 'typebox'
import * as v from 'valibot'
import { z } from 'zod'

/** The schemas of the test service, written with one library. */
interface Schemas {
  /** The body of PATCH, with defaults at several depths. */
  readonly change: object
  /** The body of POST: a union of payments by bank and by card. */
  readonly payment: object
  /** A resource with optional members. */
  readonly row: object
  readonly rows: object
}

const string = { type: 'string' }
const bank = { type: 'object', required: ['kind', 'iban'], properties: { kind: { const: 'bank' }, iban: { ...string, minLength: 5 } } }
const card = { type: 'object', required: ['kind', 'number'], properties: { kind: { const: 'card' }, number: { ...string, minLength: 12 } } }
const row = {
  type: 'object',
  required: ['id'],
  properties: { id: string, note: string, home: { type: 'object', properties: { city: string } } }
}
const zodRow = z.object({
  id: z.string(),
  note: z.string().optional(),
  home: z.object({ city: z.string().optional() }).optional()
})
const valibotRow = v.object({
  id: v.string(),
  note: v.optional(v.string()),
  home: v.optional(v.object({ city: v.optional(v.string()) }))
})
const arkRow = type({ id: 'string', 'note?': 'string', 'home?': { 'city?': 'string' } })

const libraries: Readonly<Record<string, Schemas>> = {
  'JSON Schema': {
    change: {
      type: 'object',
      properties: {
        name: string,
        status: { ...string, default: 'active' },
        tags: { type: 'array', items: string, default: [] },
        address: { type: 'object', properties: { city: string, country: { ...string, default: 'DE' } } }
      }
    },
    payment: { oneOf: [bank, card] },
    row,
    rows: { type: 'array', items: row }
  },
  'TypeBox 0.34': {
    change: Type.Object({
      name: Type.Optional(Type.String()),
      status: Type.Optional(Type.String({ default: 'active' })),
      tags: Type.Optional(Type.Array(Type.String(), { default: [] })),
      address: Type.Optional(Type.Object({ city: Type.String(), country: Type.Optional(Type.String({ default: 'DE' })) }))
    }),
    payment: Type.Union([
      Type.Object({ kind: Type.Literal('bank'), iban: Type.String({ minLength: 5 }) }),
      Type.Object({ kind: Type.Literal('card'), number: Type.String({ minLength: 12 }) })
    ]),
    row: Type.Unsafe(row),
    rows: Type.Array(Type.Unsafe(row))
  },
  'TypeBox 1': {
    change: TypeBox1.Object({
      name: TypeBox1.Optional(TypeBox1.String()),
      status: TypeBox1.Optional(TypeBox1.String({ default: 'active' })),
      tags: TypeBox1.Optional(TypeBox1.Array(TypeBox1.String(), { default: [] })),
      address: TypeBox1.Optional(
        TypeBox1.Object({ city: TypeBox1.String(), country: TypeBox1.Optional(TypeBox1.String({ default: 'DE' })) })
      )
    }),
    payment: TypeBox1.Union([
      TypeBox1.Object({ kind: TypeBox1.Literal('bank'), iban: TypeBox1.String({ minLength: 5 }) }),
      TypeBox1.Object({ kind: TypeBox1.Literal('card'), number: TypeBox1.String({ minLength: 12 }) })
    ]),
    row: TypeBox1.Unsafe(row),
    rows: TypeBox1.Array(TypeBox1.Unsafe(row))
  },
  Zod: {
    change: z
      .object({
        name: z.string(),
        status: z.string().default('active'),
        tags: z.array(z.string()).default(() => []),
        address: z.object({ city: z.string(), country: z.string().prefault('DE') })
      })
      .partial(),
    payment: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('bank'), iban: z.string().min(5) }),
      z.object({ kind: z.literal('card'), number: z.string().min(12) })
    ]),
    row: zodRow,
    rows: z.array(zodRow)
  },
  Valibot: {
    change: toStandardJsonSchema(
      v.object({
        name: v.optional(v.string()),
        status: v.optional(v.string(), 'active'),
        tags: v.optional(v.array(v.string()), () => []),
        address: v.optional(v.object({ city: v.string(), country: v.optional(v.string(), 'DE') }))
      })
    ),
    payment: toStandardJsonSchema(
      v.variant('kind', [
        v.object({ kind: v.literal('bank'), iban: v.pipe(v.string(), v.minLength(5)) }),
        v.object({ kind: v.literal('card'), number: v.pipe(v.string(), v.minLength(12)) })
      ])
    ),
    row: toStandardJsonSchema(valibotRow),
    rows: toStandardJsonSchema(v.array(valibotRow))
  },
  ArkType: {
    change: type({
      'name?': 'string',
      status: "string = 'active'",
      tags: type('string[]').default(() => []),
      'address?': { city: 'string', country: "string = 'DE'" }
    }),
    payment: type({ kind: "'bank'", iban: 'string >= 5' }).or({ kind: "'card'", number: 'string >= 12' }),
    row: arkRow,
    rows: arkRow.array()
  }
}

/** Starts the service with the schemas of a library. */
async function serve(t: Test, { change, payment, row, rows }: Schemas): Promise<FastifyInstance> {
  const listed = collection(row)({ name: 'rows', style: 'page', id: 'id', defaultSort: ['id'], sort: { keys: ['id'] } })
  const stored = [
    { id: '1', note: null, home: { city: null } },
    { id: '2', note: 'x', home: null }
  ]
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false,
    idempotency: { scope: () => 'everyone' }
  })
  const received = { 200: { type: 'object', additionalProperties: true } }
  await app.apiVersion(1, async (v1) => {
    v1.patch('/things/:id', { config: { idempotency: 'accepted' }, schema: { body: change, response: received } }, async ({ body }) => body)
    v1.post('/payments', { config: { idempotency: 'off' }, schema: { body: payment, response: received } }, async ({ body }) => body)
    v1.get('/rows', { config: { collection: listed as never }, schema: { response: { 200: rows } } }, async (request, reply) =>
      reply.page(runArray(stored as never, request.listQuery(listed as never)) as never)
    )
    v1.get('/rows/:id', { schema: { response: { 200: row } } }, async () => stored[0])
    v1.batch('/thing-batches', { paths: ['/things'], config: { idempotency: 'accepted' } })
  })
  return app
}

for (const [name, schemas] of Object.entries(libraries)) {
  t.test(`${name}: a PATCH changes only what the client sent, also as a merge patch and in a batch [M5]`, async (t) => {
    const app = await serve(t, schemas)
    const sent = [
      {},
      { name: 'x' },
      { tags: ['a'], address: { city: 'Bonn' } },
      { status: 'archived', address: { city: 'Bonn', country: 'FR' } }
    ]
    for (const payload of sent) {
      for (const contentType of ['application/json', 'application/merge-patch+json']) {
        const headers = { 'content-type': contentType }
        const response = await app.inject({ method: 'PATCH', url: '/v1/things/1', headers, payload: JSON.stringify(payload) })
        t.strictSame(response.json().data, payload, contentType)
      }
    }
    const operations = sent.map((body, index) => ({ id: String(index), method: 'PATCH', path: '/v1/things/1', body }))
    const batch = (await app.inject({ method: 'POST', url: '/v1/thing-batches', payload: { operations } })).json()
    t.strictSame(
      batch.data.map(({ body }: { body: { data: object } }) => body.data),
      sent
    )
  })

  t.test(`${name}: the constant of a union selects the branch whose errors are listed [X3]`, async (t) => {
    const app = await serve(t, schemas)
    const errorsOf = async (payload: object) =>
      (await app.inject({ method: 'POST', url: '/v1/payments', payload })).json().error.errors.map(Object.values)
    t.strictSame(await errorsOf({ kind: 'card', number: '12' }), [['body.number', 'must have at least 12 characters']])
    t.strictSame(await errorsOf({ kind: 'bank', number: '12' }), [['body.iban', 'is required']])
    for (const payload of [{}, { kind: 'cash', iban: 'ES123' }])
      t.strictSame(await errorsOf(payload), [['body.kind', 'must be one of: bank, card']])
  })

  t.test(`${name}: members that are null in a row are left out where the schema does not allow null [F3]`, async (t) => {
    const app = await serve(t, schemas)
    t.strictSame((await app.inject('/v1/rows/1')).json().data, { id: '1', home: {} })
    t.strictSame((await app.inject('/v1/rows')).json().data, [
      { id: '1', home: {} },
      { id: '2', note: 'x' }
    ])
  })
}

t.test('a null in a union of ArkType is left out too [F3]', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(standardSchema)
  const response = { 200: type({ id: 'string | null', child: type({ inner: { 'id?': 'string' } }).or({ other: 'string' }) }) }
  app.get('/', { schema: { response } }, async () => ({ id: null, child: { inner: { id: null } } }))
  t.strictSame((await app.inject('/')).json(), { id: null, child: { inner: {} } })
})

t.test('the description of a PATCH with a schema of a library has no defaults, and that of a PUT has them', async (t) => {
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false
  })
  const Change = z.object({ status: z.string().default('active') })
  const response = { 200: { type: 'object', properties: { status: string } } }
  await app.apiVersion(1, async (v1) => {
    for (const method of ['PUT', 'PATCH'] as const)
      v1.route({
        method,
        url: '/things/:name',
        config: { idempotency: 'off', waivers: { M11: 'Only the status can change.' } },
        schema: { body: Change, querystring: z.object({ dryRun: z.boolean().default(false) }), response },
        handler: async ({ body }) => body as never
      })
  })
  const { paths, components } = (await app.inject('/v1/openapi')).json()
  const { patch, put } = paths['/v1/things/{name}']
  const schemaOf = ({ requestBody }: typeof put) => {
    const { schema } = requestBody.content['application/json']
    return (schema.properties ?? components.schemas[schema.$ref.split('/').at(-1)].properties).status
  }
  t.strictSame([schemaOf(patch), schemaOf(put)], [{ type: 'string' }, { type: 'string', default: 'active' }])
  for (const { parameters } of [patch, put])
    t.match(
      parameters.find(({ name }: { name: string }) => name === 'dryRun'),
      { schema: { type: 'boolean', default: false } }
    )
})

t.test('each library marks secrets, which are sent once and not replayed [I3]', async (t) => {
  const marked: Readonly<Record<string, object>> = {
    'JSON Schema': { type: 'object', required: ['id'], properties: { id: string, token: { ...string, 'x-secret': true } } },
    'TypeBox 0.34': Type.Object({ id: Type.String(), token: Type.Optional(Type.String({ 'x-secret': true })) }),
    'TypeBox 1': TypeBox1.Object({ id: TypeBox1.String(), token: TypeBox1.Optional(TypeBox1.String({ 'x-secret': true })) }),
    Zod: z.object({ id: z.string(), token: z.string().meta({ 'x-secret': true }).optional() }),
    Valibot: toStandardJsonSchema(v.object({ id: v.string(), token: v.optional(v.pipe(v.string(), v.metadata({ 'x-secret': true }))) })),
    ArkType: type({ id: 'string', 'token?': type('string').configure({ 'x-secret': true } as object) })
  }
  for (const [library, schema] of Object.entries(marked)) {
    const app = Fastify(serverOptions())
    await app.register(conventions, {
      publicUrl: 'https://api.example.com',
      versions: { 1: {} },
      authentication: false,
      transportSecurity: { dangerouslyAllowHttp: 'loopback' },
      idempotency: { scope: () => 'ada' }
    })
    await app.apiVersion(1, async (v1) => {
      v1.post('/keys', { config: { idempotency: 'required' }, schema: { response: { 201: schema } } }, async (_request, reply) =>
        reply.created('/keys/1', { id: '1', token: 's1' })
      )
    })
    const send = () => app.inject({ method: 'POST', url: '/v1/keys', headers: { 'idempotency-key': 'k' } })
    const [first, retry] = [await send(), await send()]
    t.strictSame([first.json().data, retry.json().data], [{ id: '1', token: 's1' }, { id: '1' }], library)
    await app.close()
  }
})
