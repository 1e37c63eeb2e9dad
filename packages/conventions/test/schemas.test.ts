import conventions, { type ConventionsOptions, serverOptions } from '@concordat/conventions'
import envelope from '@concordat/envelope'
import errorCatalogue, { errorCatalogueServerOptions } from '@concordat/error-catalogue'
import { defineJob } from '@concordat/jobs'
import { collection } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { defineErrors } from '@concordat/plugin-kit/api-error'
import type { StandardSchemaTypeProvider } from '@concordat/standard-schema'
import webhooks from '@concordat/webhooks'
import { Type } from '@sinclair/typebox'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import Fastify from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import t, { type Test } from 'tap'
import * as TypeBox1 from 'typebox'
import * as v from 'valibot'
import { z } from 'zod'

interface Stay {
  readonly id: string
  readonly guest: string
  readonly nights: number
  readonly note?: string | undefined
}
/** The schemas of the test service, written with one library. */
interface Schemas {
  readonly Stay: object
  readonly Stays: object
  readonly NewStay: object
  readonly Params: object
}

const jsonStay = {
  title: 'Stay',
  type: 'object',
  required: ['id', 'guest', 'nights'],
  properties: {
    id: { type: 'string', format: 'uuid' },
    guest: { type: 'string' },
    nights: { type: 'integer', minimum: 1 },
    note: { type: 'string' }
  }
}
const { id: jsonId, ...jsonMembers } = jsonStay.properties
const boxStay = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    guest: Type.String(),
    nights: Type.Integer({ minimum: 1 }),
    note: Type.Optional(Type.String())
  },
  { title: 'Stay' }
)
const box1Stay = TypeBox1.Object(
  {
    id: TypeBox1.String({ format: 'uuid' }),
    guest: TypeBox1.String(),
    nights: TypeBox1.Integer({ minimum: 1 }),
    note: TypeBox1.Optional(TypeBox1.String())
  },
  { title: 'Stay' }
)
const zodStay = z
  .object({ id: z.uuid(), guest: z.string(), nights: z.int().min(1).max(1000), note: z.string().optional() })
  .meta({ id: 'Stay' })
const valibotStay = v.object({
  id: v.pipe(v.string(), v.uuid()),
  guest: v.string(),
  nights: v.pipe(v.number(), v.integer(), v.minValue(1)),
  note: v.optional(v.string())
})
const titled = v.pipe(valibotStay, v.title('Stay'))
const arkStay = type({ id: /^[0-9a-f-]{36}$/, guest: 'string', nights: 'number.integer >= 1', 'note?': 'string' })

const libraries: Readonly<Record<string, Schemas>> = {
  'JSON Schema': {
    Stay: jsonStay,
    Stays: { type: 'array', items: jsonStay },
    NewStay: { type: 'object', required: ['guest', 'nights'], properties: jsonMembers },
    Params: { type: 'object', required: ['id'], properties: { id: jsonId } }
  },
  'TypeBox 0.34': {
    Stay: boxStay,
    Stays: Type.Array(boxStay),
    NewStay: Type.Omit(boxStay, ['id'], { title: 'NewStay' }),
    Params: Type.Pick(boxStay, ['id'])
  },
  'TypeBox 1': {
    Stay: box1Stay,
    Stays: TypeBox1.Array(box1Stay),
    NewStay: TypeBox1.Omit(box1Stay, ['id'], { title: 'NewStay' }),
    Params: TypeBox1.Pick(box1Stay, ['id'])
  },
  Zod: { Stay: zodStay, Stays: z.array(zodStay), NewStay: zodStay.omit({ id: true }), Params: zodStay.pick({ id: true }) },
  Valibot: {
    Stay: toStandardJsonSchema(titled),
    Stays: toStandardJsonSchema(v.array(titled)),
    NewStay: toStandardJsonSchema(v.omit(valibotStay, ['id'])),
    Params: toStandardJsonSchema(v.pick(valibotStay, ['id']))
  },
  ArkType: { Stay: arkStay, Stays: arkStay.array(), NewStay: arkStay.omit('id'), Params: arkStay.pick('id') }
}

/** Starts the service with the schemas of a library. */
async function serve(t: Test, { Stay, Stays, NewStay, Params }: Schemas) {
  const stays = collection<Stay>(Stay)({
    name: 'stays',
    style: 'page',
    id: 'id',
    defaultSort: ['guest'],
    sort: { keys: ['guest', 'nights'] },
    filter: { guest: ['eq'], nights: ['gte'] }
  })
  const stored: Stay[] = []
  const app = Fastify(serverOptions())
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false
  })
  await app.apiVersion(1, async (v1) => {
    v1.post('/stays', { config: { idempotency: 'off' }, schema: { body: NewStay, response: { 201: Stay } } }, async (request, reply) => {
      const stay = { ...(request.body as Omit<Stay, 'id'>), id: crypto.randomUUID(), secret: 'hidden' }
      stored.push(stay)
      return reply.created(`/stays/${stay.id}`, stay)
    })
    v1.get('/stays', { config: { collection: stays }, schema: { response: { 200: Stays } } }, async (request, reply) =>
      reply.page(runArray(stored, request.listQuery(stays)))
    )
    v1.get('/stays/:id', { schema: { params: Params, response: { 200: Stay } } }, async (request) =>
      stored.find(({ id }) => id === (request.params as Stay).id)
    )
  })
  return app
}

for (const [name, schemas] of Object.entries(libraries)) {
  t.test(`the same service works with ${name}`, async (t) => {
    const app = await serve(t, schemas)
    const post = (payload: object, language = 'en') =>
      app.inject({ method: 'POST', url: '/v1/stays', payload, headers: { 'accept-language': language } })

    const created = await post({ guest: 'Ada', nights: 2 })
    const { id } = created.json().data
    t.match(
      [created.statusCode, created.headers.location, created.json()],
      [
        201,
        `https://api.example.com/v1/stays/${id}`,
        { data: { id: /^[0-9a-f-]{36}$/, guest: 'Ada', nights: 2 }, _links: [{ rel: 'self' }], _meta: { version: 'v1' } }
      ]
    )
    t.strictSame(
      Object.keys(created.json().data).toSorted(),
      ['guest', 'id', 'nights'],
      'members that the schema does not have are removed'
    )
    await post({ guest: 'Bob', nights: 5, note: 'late' })

    const errorsOf = async (payload: object, language?: string) => (await post(payload, language)).json().error.errors
    t.strictSame(await errorsOf({ guest: 7, extra: true }), [
      { field: 'body.extra', message: 'is not a known field' },
      { field: 'body.guest', message: 'must be of type string' },
      { field: 'body.nights', message: 'is required' }
    ])
    t.strictSame(await errorsOf({ guest: 'Eve', nights: 0 }, 'es'), [{ field: 'body.nights', message: 'debe ser al menos 1' }])

    const list = (await app.inject('/v1/stays?nights[gte]=1&sort=-nights&fields=guest')).json()
    t.strictSame(
      list.data.map(({ guest }: Stay) => guest),
      ['Bob', 'Ada']
    )
    t.strictSame(Object.keys(list.data[0]).toSorted(), ['guest', 'id'])
    t.match(list._meta.pagination, { page: 1, totalItems: 2 })
    t.match((await app.inject('/v1/stays?nights[gte]=many')).json(), { error: { status: 422, errors: [{ field: /nights/ }] } })

    t.match((await app.inject(`/v1/stays/${id}`)).json().data, { guest: 'Ada' })
    t.equal((await app.inject('/v1/stays/ada')).json().error.code, 'RESOURCE_NOT_FOUND')

    const { components, paths } = (await app.inject('/v1/openapi')).json()
    t.match(components.schemas.Stay.properties, { id: {}, guest: { type: 'string' }, nights: {}, note: { type: 'string' } })
    t.strictSame(components.schemas.NewStay.required.toSorted(), ['guest', 'nights'])
    t.match(paths['/v1/stays/{id}'].get.parameters[0], { name: 'id', in: 'path', required: true })
  })
}

const Moment = z.codec(z.iso.datetime(), z.date(), { decode: (text) => new Date(text), encode: (date) => date.toISOString() })
const Meeting = z
  .object({
    id: z.uuid(),
    from: z.date(),
    until: z.date(),
    title: z.string()
  })
  .refine(({ from, until }) => from <= until)
  .transform(({ from, until, ...rest }) => ({ ...rest, from: from.toISOString(), until: until.toISOString() }))
  .pipe(z.object({ id: z.uuid(), title: z.string(), from: z.iso.datetime(), until: z.iso.datetime() }))
const NewMeeting = z
  .object({ from: Moment, until: Moment, title: z.string().trim() })
  .refine(({ from, until }) => from <= until, { error: 'must not be before the start', path: ['until'] })
  .refine(({ title }) => !title.includes('{'), { error: `must have no brace: {title} ${'.'.repeat(400)}`, path: ['title'] })
const meetings = collection(Meeting)({
  name: 'meetings',
  style: 'page',
  id: 'id',
  defaultSort: ['from'],
  sort: { keys: ['from'] },
  filter: { title: ['eq'] }
})
const bookingErrors = defineErrors(
  {},
  { 'must not be before the start': { en: 'must not be before the start', es: 'no debe ser anterior al comienzo' } }
)

async function serveMeetings(t: Test, options: Partial<ConventionsOptions> = {}) {
  const stored: z.input<typeof Meeting>[] = []
  const app = Fastify(serverOptions()).withTypeProvider<StandardSchemaTypeProvider>()
  t.teardown(() => app.close())
  await app.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false,
    errorCatalogue: { include: [bookingErrors] },
    idempotency: { scope: () => 'everyone' },
    ...options
  })
  await app.apiVersion(1, async (v1) => {
    v1.post(
      '/meetings',
      { config: { idempotency: 'required' }, schema: { body: NewMeeting, response: { 201: Meeting } } },
      async (request, reply) => {
        const meeting = { ...request.body, id: crypto.randomUUID() }
        stored.push(meeting)
        return reply.created(`/meetings/${meeting.id}`, meeting)
      }
    )
    v1.get('/meetings', { config: { collection: meetings }, schema: { response: { 200: z.array(Meeting) } } }, async (request, reply) =>
      reply.page(runArray(stored, request.listQuery(meetings)))
    )
  })
  const post = (payload: object, headers = {}) =>
    app.inject({ method: 'POST', url: '/v1/meetings', payload, headers: { 'idempotency-key': crypto.randomUUID(), ...headers } })
  return { app, stored, post }
}

const times = { from: '2026-01-01T10:00:00.000Z', until: '2026-01-01T11:00:00.000Z' }

t.test('refinements and transforms run in requests, responses and lists, also with requested fields', async (t) => {
  const { app, stored, post } = await serveMeetings(t)
  t.match((await post({ ...times, title: ' Plan ' })).json().data, { ...times, title: 'Plan' })
  t.match(stored, [{ from: new Date(times.from), title: 'Plan' }])
  t.match((await app.inject('/v1/meetings')).json().data, [{ ...times, title: 'Plan' }])
  const { id } = (await app.inject('/v1/meetings?fields=from')).json().data[0]
  t.strictSame((await app.inject('/v1/meetings?fields=from&title=Plan')).json().data, [{ id, from: times.from }])
  stored.push({ ...(stored[0] as z.input<typeof Meeting>), until: new Date(0) })
  t.equal(
    (await app.inject('/v1/meetings?fields=title')).statusCode,
    500,
    'a row that does not match the schema is not sent, whatever the fields'
  )
})

t.test('the message of a refinement reaches clients in their language, if an error list translates it', async (t) => {
  const { post } = await serveMeetings(t)
  const swapped = { from: times.until, until: times.from, title: 'Plan' }
  const messages = async (language: string) =>
    (await post(swapped, { 'accept-language': language }))
      .json()
      .error.errors.map(({ field, message }: Record<string, string>) => [field, message])
  t.strictSame(await messages('en'), [['body.until', 'must not be before the start']])
  t.strictSame(await messages('es'), [['body.until', 'no debe ser anterior al comienzo']])
  const long = (await post({ ...times, title: '{' })).json()
  t.match(long.error, { code: 'VALIDATION_FAILED', errors: [{ field: 'body.title', message: /^must have no brace: \{title\} \.{200,}$/ }] })
  t.equal(long.error.errors[0].message.length, 256)
})

t.test('a key is compared with the body as it was sent, before its transforms', async (t) => {
  const { post, stored } = await serveMeetings(t)
  const key = { 'idempotency-key': crypto.randomUUID() }
  const first = await post({ ...times, title: 'Plan' }, key)
  const again = await post({ ...times, title: 'Plan' }, key)
  t.match([again.statusCode, again.json().data], [201, first.json().data])
  t.equal(stored.length, 1)
  t.equal((await post({ ...times, title: 'Other' }, key)).statusCode, 422)
})

t.test('a route outside the API may use the compilers of its own type provider', async (t) => {
  const { app } = await serveMeetings(t)
  const plain = Fastify(serverOptions())
  t.teardown(() => plain.close())
  await plain.register(conventions, {
    publicUrl: 'https://api.example.com',
    versions: { 1: { status: 'current' } },
    transportSecurity: { dangerouslyAllowHttp: 'loopback' },
    authentication: false
  })
  await plain.register(async (child) => {
    child.setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler)
    child.post(
      '/hook',
      { schema: { body: z.object({ n: z.int().transform((n) => n + 1) }), response: { 200: z.object({ n: z.int() }) } } },
      async ({ body }) => body
    )
  })
  t.strictSame((await plain.inject({ method: 'POST', url: '/hook', payload: { n: 1 } })).json(), { n: 2 })
  t.match((await plain.inject({ method: 'POST', url: '/hook', payload: { n: 'x' } })).json(), { error: { code: 'VALIDATION_FAILED' } })
  t.equal((await app.inject('/v1/meetings')).statusCode, 200)
})

t.test('a schema of a library stops the start where nothing converts it', async (t) => {
  const body = z.object({ n: z.int() })
  const refused = Fastify(errorCatalogueServerOptions())
  await refused.register(errorCatalogue)
  refused.post('/orders', { schema: { response: { 200: z.array(body) } } }, async () => [])
  await t.rejects(async () => refused.ready(), {
    message:
      'error-catalogue: the schema "200" of POST /orders is a schema of "zod", not a JSON Schema. Register @concordat/standard-schema before this plugin.'
  })
  const withCatalogue = Fastify(errorCatalogueServerOptions())
  await withCatalogue.register(errorCatalogue)
  await withCatalogue.register(async (child) => {
    child.setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler)
    child.post('/orders', { schema: { body } }, async (request) => request.body)
  })
  t.equal((await withCatalogue.inject({ method: 'POST', url: '/orders', payload: { n: 'x' } })).statusCode, 422)
  const withEnvelope = Fastify()
  await withEnvelope.register(envelope, { publicUrl: 'https://api.example.com' })
  withEnvelope.get('/orders', { schema: { response: { 200: z.array(body) } } }, async () => [])
  await t.rejects(async () => withEnvelope.ready(), {
    message:
      'envelope: GET /orders schema.response.200 is a schema of "zod", not a JSON Schema. Register @concordat/standard-schema before this plugin.'
  })
  t.throws(() => defineJob({ name: 'export', input: body, handler: async () => {} }), {
    message:
      'jobs: input of the job "export" is a schema of "zod", not a JSON Schema. Set the JSON Schema of what is stored, for example z.toJSONSchema(schema).'
  })
  const events = { 'order.created': { description: 'An order was created.', schema: body, example: { n: 1 } } }
  const withEvents = Fastify()
  await withEvents.register(webhooks, { events, mayReceive: 'everyone' })
  await t.rejects(async () => withEvents.ready(), {
    message: /^webhooks: options\.events "order\.created" schema is a schema of "zod", not a JSON Schema\. Set its JSON Schema/
  })
})
