import { publish } from '@concordat/plugin-kit/wiring'
import standardSchema from '@concordat/standard-schema'
import { Type } from '@sinclair/typebox'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { Ajv } from 'ajv'
import Fastify, { type FastifyInstance, type FastifySchema } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import t from 'tap'
import * as TypeBox1 from 'typebox'
import * as v from 'valibot'
import { z } from 'zod'
import * as mini from 'zod/mini'

async function start(schema: object, prepare: (app: FastifyInstance) => void = () => {}) {
  const app = Fastify()
  await app.register(standardSchema)
  prepare(app)
  app.post('/orders', { schema }, async ({ body }) => body)
  await app.ready()
  return app
}

const refusals: Readonly<Record<string, readonly [schema: object, message: RegExp]>> = {
  'a date in a body': [
    { body: z.object({ at: z.date() }) },
    /^standard-schema: POST \/orders schema\.body has no JSON Schema for its input: Date cannot be represented in JSON Schema\. Use a type that JSON has, .* withJsonSchema\(\)\.$/
  ],
  'a transform without an output type in a response': [
    { response: { 200: z.string().transform(Number) } },
    /^standard-schema: POST \/orders schema\.response\.200 has no JSON Schema for its output: Transforms/
  ],
  'a date for one media type': [
    { body: { content: { 'text/plain': { schema: z.date() } } } },
    /^standard-schema: POST \/orders schema\.body\.content\["text\/plain"\] has no JSON Schema/
  ],
  'a schema of Valibot alone': [
    { body: v.object({}) },
    /schema\.body is a schema of "valibot" without a JSON Schema\. Wrap it in toStandardJsonSchema\(\) of @valibot\/to-json-schema, or add the JSON Schema with withJsonSchema\(\)\.$/
  ],
  'a schema of zod/mini': [
    { body: mini.object({}) },
    /schema\.body is a schema of "zod" without a JSON Schema\. Import zod 4\.2 or later, not zod\/mini, or add/
  ],
  'a schema of an unknown library': [
    { body: { '~standard': { version: 1, vendor: 'mine', validate: () => ({ value: 1 }) } } },
    /schema\.body is a schema of "mine" without a JSON Schema\. Add the JSON Schema with withJsonSchema\(\)\.$/
  ],
  'a preprocess step in the query': [
    { querystring: z.object({ list: z.preprocess((text) => String(text).split(','), z.array(z.string())).optional() }) },
    /^standard-schema: POST \/orders schema\.querystring has z\.preprocess\(\) in "list", which would not receive the text\. Start with text, for example z\.string\(\)\.transform\(Number\)\.pipe\(z\.number\(\)\.catch\(1\)\), or describe the member as text with withJsonSchema\(\)\.$/
  ],
  'a preprocess step around the path': [
    { params: z.preprocess((params) => params, z.object({ id: z.string() })) },
    /schema\.params has z\.preprocess\(\), which would not receive the text\./
  ],
  'a catch in a union of the headers': [
    { headers: z.object({ 'x-flag': z.union([z.boolean(), z.array(z.coerce.number().catch(1))]) }) },
    /schema\.headers has \.catch\(\) in "x-flag\.anyOf\.1\.items", which would not run for text of another type\./
  ],
  'a fallback of Valibot in the query': [
    { query: toStandardJsonSchema(v.object({ a: v.optional(v.string()), n: v.fallback(v.pipe(v.number(), v.minValue(1)), 5) })) },
    /schema\.query has v\.fallback\(\) in "n", which would not run for text of another type\. Use v\.optional\(\) with a default, or describe/
  ],
  'a fallback of Valibot in a list of the query': [
    { querystring: toStandardJsonSchema(v.object({ list: v.array(v.fallback(v.number(), 5)) })) },
    /schema\.querystring has v\.fallback\(\), which would not run for text of another type\./
  ],
  'a header in upper case': [
    { headers: z.object({ 'X-Flag': z.string() }) },
    /schema\.headers has the header "X-Flag"\. Write it as "x-flag", as Node\.js does\.$/
  ],
  'a transform of TypeBox 0.34': [
    { body: Type.Object({ at: Type.Transform(Type.String()).Decode(Number).Encode(String) }) },
    /^standard-schema: POST \/orders schema\.body\.properties\.at has a TypeBox transform, codec or refinement, which/
  ],
  'a codec of TypeBox 1': [
    { body: TypeBox1.Array(TypeBox1.Codec(TypeBox1.String()).Decode(Number).Encode(String)) },
    /schema\.body\.items has a TypeBox transform/
  ],
  'a refinement of TypeBox 1': [
    { querystring: TypeBox1.Refine(TypeBox1.String(), () => true) },
    /schema\.querystring has a TypeBox transform/
  ]
}
for (const [name, [schema, message]] of Object.entries(refusals)) {
  t.test(`${name} stops the start with its place and the remedy`, async (t) => {
    await t.rejects(start(schema), { message })
  })
}

t.test('the compilers of another type provider stop the start in the API, and apply outside it', async (t) => {
  const Name = z.object({ name: z.string().transform((text) => text.length) })
  await t.rejects(
    start({ body: Name }, (app) => app.setValidatorCompiler(validatorCompiler)),
    {
      message:
        'standard-schema: POST /orders has a schema of a library, but setValidatorCompiler() set a compiler that does not accept JSON Schema. Remove that call: the plugin validates and serializes schemas of the library itself.'
    }
  )
  await t.rejects(
    start({ response: { 200: z.object({}) } }, (app) => app.setSerializerCompiler(serializerCompiler)),
    {
      message: /but setSerializerCompiler\(\) set a compiler/
    }
  )
  const outside = await start({ body: Name, response: { 200: z.object({ name: z.int() }) } }, (app) => {
    publish(app, { belongsToApi: () => false })
    app.setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler)
  })
  t.strictSame((await outside.inject({ method: 'POST', url: '/orders', payload: { name: 'Ada' } })).json(), { name: 3 })
})

t.test('a compiler for JSON Schema validates before the library', async (t) => {
  const ajv = new Ajv()
  const app = await start({ body: z.object({ name: z.string().refine((text) => text !== 'Eve') }) }, (app) =>
    app.setValidatorCompiler(({ schema }) => ajv.compile(schema as object))
  )
  const status = async (name: unknown) => (await app.inject({ method: 'POST', url: '/orders', payload: { name } })).statusCode
  t.strictSame([await status('Ada'), await status(7), await status('Eve')], [200, 400, 400])
  await t.resolves(
    start({ body: Type.Object({ at: Type.Transform(Type.String()).Decode(Number).Encode(String) }) }, (app) =>
      app.setValidatorCompiler(() => {
        throw new Error('not JSON Schema')
      })
    ).catch(({ message }: Error) => t.match(message, /due to error not JSON Schema/))
  )
})

t.test('plain schemas, and routes without a schema, are not touched', async (t) => {
  const schema: FastifySchema = { body: { type: 'object', properties: { n: { type: 'integer' } } } }
  const app = await start(schema)
  app.log.info('ready')
  t.strictSame((await app.inject({ method: 'POST', url: '/orders', payload: { n: '1' } })).json(), { n: 1 })
  t.match(schema, { body: { type: 'object', properties: { n: { type: 'integer' } } } })
})

t.test('the plugin must be registered before the plugins that read the schemas, and has no options', async (t) => {
  for (const contract of ['pages', 'envelope'] as const) {
    const app = Fastify()
    publish(app, { [contract]: {} as never })
    await t.rejects(async () => app.register(standardSchema), {
      message: /^standard-schema: the plugin is registered after .* Register it before\.$/
    })
  }
  await t.rejects(async () => Fastify().register(standardSchema, { library: 'zod' } as object), {
    message: /^standard-schema: options\.library is unknown/
  })
})
