// node --conditions=@concordat/source bench/parse.ts [rounds]: compares parsing a query with eight parameters with Fastify parsing
// and validating the same query with its own parser and Ajv. Rounds are interleaved, results are medians, and a check of the
// results comes first.
import { createRequire } from 'node:module'
import { collection } from '@concordat/pagination-query'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyRequest } from 'fastify'
import { membersOf } from '../src/declaration/item-members.ts'
import { resolveOptions } from '../src/options.ts'
import { bindCollection } from '../src/query/bound-collection.ts'
import { readQuery } from '../src/query/query-reader.ts'
import { listReader } from '../src/query/requested-list.ts'

const rounds = Number(process.argv[2] ?? 7)
const runs = 100_000
// The router of Fastify contains the parser.
const router = createRequire(createRequire(import.meta.resolve('fastify')).resolve('find-my-way'))
const { parse } = router('fast-querystring') as { readonly parse: (query: string) => Record<string, unknown> }

const Order = Type.Object({
  id: Type.String({ format: 'uuid' }),
  status: Type.Union([Type.Literal('pending'), Type.Literal('paid'), Type.Literal('shipped')]),
  customerId: Type.String({ format: 'uuid' }),
  total: Type.String({ pattern: '^\\d{1,18}\\.\\d{2}$' }),
  placedAt: Type.String({ format: 'date-time' })
})
const orders = collection(Order)({
  name: 'orders',
  style: 'page',
  id: 'id',
  defaultSort: ['-placedAt'],
  sort: { keys: ['placedAt', 'total'] },
  filter: { status: ['eq', 'in'], customerId: ['eq'], total: ['gte', 'lt'], placedAt: ['gte'] }
})
const query =
  'status[in]=paid,shipped&customerId=018f4e2a-7c1b-7d3e-9a5f-0123456789ab&total[gte]=10.00&total[lt]=99.50' +
  '&placedAt[gte]=2026-01-01T00:00:00Z&sort=-total&fields=id,total&perPage=50'
const schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    'status[in]': { type: 'string', pattern: '^(pending|paid|shipped)(,(pending|paid|shipped))*$' },
    customerId: { type: 'string', format: 'uuid' },
    'total[gte]': { type: 'string', pattern: '^-?\\d{1,30}(\\.\\d{1,30})?$' },
    'total[lt]': { type: 'string', pattern: '^-?\\d{1,30}(\\.\\d{1,30})?$' },
    'placedAt[gte]': { type: 'string', format: 'date-time' },
    sort: { type: 'string', enum: ['placedAt', '-placedAt', 'total', '-total'] },
    fields: { type: 'string', pattern: '^(id|status|customerId|total|placedAt)(,(id|status|customerId|total|placedAt))*$' },
    perPage: { type: 'integer', minimum: 1, maximum: 100, default: 25 },
    page: { type: 'integer', minimum: 1, default: 1 }
  }
}

const app = Fastify()
app.get('/', { schema: { querystring: schema } }, async () => 'x')
await app.ready()
const validate = app.validatorCompiler?.({ schema, method: 'GET', url: '/', httpPart: 'querystring' }) as (query: unknown) => boolean

const settings = resolveOptions({})
const members = membersOf(Order, () => undefined)
const bound = bindCollection(orders, { item: Order, projected: Order, document: Order, members }, settings)
const read = listReader(orders, bound, settings, false, false)
const request = { raw: { url: `/orders?${query}` } } as FastifyRequest
const parsed = parse(query)
const kinds: Record<string, () => unknown> = {
  'fastify: parser and Ajv': () => validate(parse(query)),
  'fastify: Ajv alone': () => validate({ ...parsed }),
  'a query read for the first time': () => readQuery(bound, query, new Set()),
  'a query read again': () => read(request)
}

if (validate({ ...parse(query), perPage: '0' }) || !validate(parse(query))) throw new Error('Ajv does not validate the query.')
if (read(request).query.conditions.length !== 5) throw new Error('The query is not parsed.')
const times = new Map(Object.keys(kinds).map((kind) => [kind, [] as number[]]))
for (let round = -2; round < rounds; round += 1) {
  for (const [kind, run] of Object.entries(kinds)) {
    const start = process.hrtime.bigint()
    for (let count = 0; count < runs; count += 1) run()
    if (round >= 0) times.get(kind)?.push(Number(process.hrtime.bigint() - start) / runs / 1000)
  }
}
const [whole, alone] = [...times.values()] as [number[], number[]]
console.log(`${rounds} interleaved rounds of ${runs}; median of a query, and of its ratio in the same round`)
for (const [kind, measured] of times) {
  const ratio = (base: number[]) => median(measured.map((time, round) => time / (base[round] ?? 0))).toFixed(2)
  console.log(`${kind.padEnd(34)} ${median(measured).toFixed(2)} µs  ${ratio(whole)} of parser and Ajv  ${ratio(alone)} of Ajv alone`)
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number
}
