// The messages of schema libraries for values that their JSON Schema accepts, so that the library itself refuses them.
import errorCatalogue, { errorCatalogueServerOptions } from '@concordat/error-catalogue'
import standardSchema from '@concordat/standard-schema'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import Fastify from 'fastify'
import t from 'tap'
import * as v from 'valibot'
import { z } from 'zod'

type Texts = readonly [en: string, es: string]
interface Row {
  readonly name: string
  readonly schema: object
  readonly value: unknown
  readonly texts: Texts
}

const format = (name: string): Texts => [`must have the format ${name}`, `debe tener el formato ${name}`]
const dateTime = format('date-time, for example 2026-01-31T12:00:00Z')
const own: Texts = ['Invalid order id', 'Invalid order id']

// After a transformation, no JSON Schema describes the value, so every check is that of the library.
const after = (schema: z.ZodType) =>
  z
    .string()
    .transform((text) => text.trim())
    .pipe(schema as never)
const number = (check: z.ZodType) =>
  z
    .string()
    .transform(Number)
    .pipe(check as never)
const items = (check: z.ZodType) =>
  z
    .string()
    .transform((text) => text.split(','))
    .pipe(check as never)

const zodFormats: readonly (readonly [z.ZodType, Texts])[] = [
  [z.iso.datetime(), dateTime],
  [z.iso.date(), format('date')],
  [z.iso.time(), format('time')],
  [z.iso.duration(), format('duration')],
  [z.uuid(), format('uuid')],
  [z.uuidv7(), format('uuid')],
  [z.guid(), format('uuid')],
  [z.email(), format('email')],
  [z.url(), format('uri')],
  [z.ipv4(), format('ipv4')],
  [z.ipv6(), format('ipv6')],
  [z.cidrv4(), format('cidrv4')],
  [z.cidrv6(), format('cidrv6')],
  [z.base64(), format('base64')],
  [z.base64url(), format('base64url')],
  [z.nanoid(), format('nanoid')],
  [z.cuid(), format('cuid')],
  [z.cuid2(), format('cuid2')],
  [z.ulid(), format('ulid')],
  [z.xid(), format('xid')],
  [z.ksuid(), format('ksuid')],
  [z.e164(), format('e164')],
  [z.jwt(), format('jwt')],
  [z.emoji(), format('emoji')],
  [z.hostname(), format('hostname')]
]

const rows: readonly Row[] = [
  {
    name: 'z.iso.datetime() with an offset',
    schema: z.object({ at: z.iso.datetime() }),
    value: { at: '2026-01-31T12:00:00+02:00' },
    texts: dateTime
  },
  {
    name: 'z.uuid() of an unknown version',
    schema: z.object({ at: z.uuid() }),
    value: { at: '8e03978e-40d5-93dd-bc93-6894a57f9324' },
    texts: format('uuid')
  },
  { name: 'z.jwt()', schema: z.object({ at: z.jwt() }), value: { at: 'a.b' }, texts: format('jwt') },
  ...zodFormats.map(
    ([schema, texts], index): Row => ({ name: `format ${index}`, schema: z.object({ at: after(schema) }), value: { at: 'S !' }, texts })
  ),
  {
    name: 'min of a text',
    schema: z.object({ at: after(z.string().min(3)) }),
    value: { at: '   a' },
    texts: ['must have at least 3 characters', 'debe tener al menos 3 caracteres']
  },
  {
    name: 'max of a text',
    schema: z.object({ at: after(z.string().max(1)) }),
    value: { at: 'abc' },
    texts: ['must have at most 1 character', 'debe tener como máximo 1 carácter']
  },
  {
    name: 'min of a number',
    schema: z.object({ at: number(z.number().min(3)) }),
    value: { at: '1' },
    texts: ['must be at least 3', 'debe ser al menos 3']
  },
  {
    name: 'max of a number',
    schema: z.object({ at: number(z.number().max(3)) }),
    value: { at: '5' },
    texts: ['must be at most 3', 'debe ser como máximo 3']
  },
  {
    name: 'gt',
    schema: z.object({ at: number(z.number().gt(3)) }),
    value: { at: '3' },
    texts: ['must be greater than 3', 'debe ser mayor que 3']
  },
  {
    name: 'lt',
    schema: z.object({ at: number(z.number().lt(3)) }),
    value: { at: '3' },
    texts: ['must be less than 3', 'debe ser menor que 3']
  },
  {
    name: 'multipleOf',
    schema: z.object({ at: number(z.number().multipleOf(5)) }),
    value: { at: '3' },
    texts: ['must be a multiple of 5', 'debe ser múltiplo de 5']
  },
  {
    name: 'type',
    schema: z.object({ at: number(z.number()) }),
    value: { at: 'x' },
    texts: ['must be of type number', 'debe ser de tipo number']
  },
  {
    name: 'enum',
    schema: z.object({ at: after(z.enum(['a', 'b'])) }),
    value: { at: 'x' },
    texts: ['must be one of: a, b', 'debe ser uno de: a, b']
  },
  {
    name: 'literal',
    schema: z.object({ at: after(z.literal('a')) }),
    value: { at: 'x' },
    texts: ['must be one of: a', 'debe ser uno de: a']
  },
  {
    name: 'min of a list',
    schema: z.object({ at: items(z.array(z.string()).min(2)) }),
    value: { at: 'x' },
    texts: ['must have at least 2 items', 'debe tener al menos 2 elementos']
  },
  {
    name: 'max of a list',
    schema: z.object({ at: items(z.array(z.string()).max(1)) }),
    value: { at: 'x,y' },
    texts: ['must have at most 1 item', 'debe tener como máximo 1 elemento']
  },
  {
    name: 'refine without a message',
    schema: z.object({ at: z.string().refine((text) => text === 'ok') }),
    value: { at: 'x' },
    texts: ['is invalid', 'no es válido']
  },
  {
    name: 'refine with a message',
    schema: z.object({ at: z.string().refine((text) => text === 'ok', 'Invalid order id') }),
    value: { at: 'x' },
    texts: own
  },
  { name: 'a format with a message', schema: z.object({ at: after(z.uuid('Invalid order id')) }), value: { at: 'x' }, texts: own },
  {
    name: 'a minimum with a message',
    schema: z.object({ at: after(z.string().min(3, 'Invalid order id')) }),
    value: { at: 'x' },
    texts: own
  },
  {
    name: 'v.isoTimestamp()',
    schema: toStandardJsonSchema(v.object({ at: v.pipe(v.string(), v.isoTimestamp()) })),
    value: { at: '2026-01-31t12:00:00z' },
    texts: dateTime
  },
  {
    name: 'v.uuid() with a message',
    schema: toStandardJsonSchema(v.object({ at: v.pipe(v.string(), v.uuid('Invalid order id')) })),
    value: { at: 'urn:uuid:8e03978e-40d5-43dd-bc93-6894a57f9324' },
    texts: own
  }
]

t.test(
  'a schema library answers in the language of the client, except with a message that the author of the schema wrote [G1]',
  async (t) => {
    const app = Fastify({ ...errorCatalogueServerOptions() })
    await app.register(standardSchema)
    await app.register(errorCatalogue, { locale: ({ headers }) => String(headers['accept-language']) })
    for (const [index, { schema }] of rows.entries()) app.post(`/${index}`, { schema: { body: schema } }, async () => 'ok')
    for (const [index, { name, value, texts }] of rows.entries()) {
      for (const [at, language] of ['en', 'es'].entries()) {
        const response = await app.inject({
          method: 'POST',
          url: `/${index}`,
          payload: value as object,
          headers: { 'accept-language': language }
        })
        t.strictSame(response.json().error?.errors, [{ field: 'body.at', message: texts[at] }], `${name} ${language}`)
      }
    }
  }
)
