import conventions, { serverOptions } from '@concordat/conventions'
import { Type } from '@sinclair/typebox'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import Fastify from 'fastify'
import * as v from 'valibot'
import { z } from 'zod'

const app = Fastify({ ...serverOptions() })
await app.register(conventions, {
  publicUrl: 'https://api.example.com',
  versions: { 1: { status: 'current' } },
  authentication: false,
  transportSecurity: { dangerouslyAllowHttp: 'loopback' },
  openapi: { lint: 'off' }
})
const R = { 200: { type: 'object', properties: { v: {} } } }
const kinds = {
  zcoerce: z.object({ n: z.coerce.number().optional() }),
  zcoerceint: z.object({ n: z.coerce.number().int().optional() }),
  zint: z.object({ n: z.int().optional() }),
  zint32: z.object({ n: z.int32().optional() }),
  znum: z.object({ n: z.number().optional() }),
  zbigint: z.object({ n: z.string().transform(Number).optional() }),
  vnum: toStandardJsonSchema(v.object({ n: v.optional(v.number()) })),
  vint: toStandardJsonSchema(v.object({ n: v.optional(v.pipe(v.number(), v.integer())) })),
  tint: Type.Object({ n: Type.Optional(Type.Integer()) }),
  tunion: Type.Object({ n: Type.Optional(Type.Union([Type.Integer(), Type.Literal('all')])) }),
  tarr: Type.Object({ n: Type.Optional(Type.Array(Type.Integer())) }),
  ark: type({ 'n?': 'number' }),
  arkint: type({ 'n?': 'number.integer' })
}
await app.apiVersion(1, async (v1) => {
  for (const [k, q] of Object.entries(kinds))
    v1.get('/' + k.toLowerCase() + '/:id', { config: { waivers: { P2: 'test' } }, schema: { querystring: q, response: R } }, async (r) => ({
      v: { n: r.query.n === Infinity ? 'INF' : r.query.n }
    }))
})
await app.ready()
for (const k of Object.keys(kinds)) {
  const row = []
  for (const t of [
    '5',
    '-0',
    '1e3',
    '1.50',
    'Infinity',
    '-Infinity',
    '1e999',
    '0x10',
    '0b11',
    '%2010',
    '+5',
    '007',
    '5.',
    '.5',
    '9007199254740991',
    '9007199254740992',
    '9007199254740993',
    '1_0',
    '',
    'all',
    'true'
  ]) {
    const r = await app.inject({ url: `/v1/${k.toLowerCase()}/1?n=${t}` })
    row.push(
      `${t}=${
        r.statusCode === 200
          ? JSON.stringify(r.json().data.v.n)
          : r.statusCode +
            ':' +
            (
              r
                .json()
                .error.errors?.map((e) => e.message)
                .join('|') ?? r.json().error.code
            )
      }`
    )
  }
  console.log(k, row.join('  '))
}
