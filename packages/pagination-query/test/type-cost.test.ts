import { join } from 'node:path'
import { instantiations } from '@concordat/test-harness/instantiations'
import t from 'tap'

const home = join(import.meta.dirname, '..')
// About 700 of them are the descriptions of options, and 1,000 the filters by fields of relations, however many fields there are.
const most = 17_000

const kinds = ['Type.String()', 'Type.Integer()', 'Type.Boolean()', "Type.Union([Type.Literal('a'), Type.Literal('b'), Type.Literal('c')])"]
const members = Array.from({ length: 50 }, (_, index) => {
  const kind = kinds[index % kinds.length] as string
  return `field${index}: ${index % 5 === 0 ? `Type.Optional(${kind})` : kind}`
})
const imports = `
import paginationQuery, { collection, type Page } from '@concordat/pagination-query'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
const app = Fastify().withTypeProvider<TypeBoxTypeProvider>()
await app.register(paginationQuery)
const Item = Type.Object({ id: Type.String(), ${members.join(', ')} })
`
// The same route without a collection, for comparison.
const withoutCollection = `${imports}
app.get('/items', { schema: { response: { 200: Type.Array(Item) } } }, async () => [])
export { collection }
export type { Page }
`
const withCollection = `${imports}
const items = collection(Item)({
  name: 'items', style: 'page', id: 'id', defaultSort: ['field1'],
  sort: { keys: [${members.map((_, index) => `'field${index}'`).join(', ')}], combinations: [['field3', '-field1']] },
  filter: { ${members.map((_, index) => `field${index}: true`).join(', ')} }
})
app.get('/items', { config: { collection: items }, schema: { response: { 200: Type.Array(Item) } } }, async (request, reply) => {
  const { conditions, order } = request.listQuery(items)
  for (const condition of conditions) {
    if (condition.field === 'field3' && condition.operator === 'eq') condition.value satisfies 'a' | 'b' | 'c'
    if (condition.field === 'field1' && condition.operator === 'gte') condition.value satisfies \`\${number}\`
  }
  void order
  const page: Page<typeof Item.static> = { rows: [], first: undefined, last: undefined, hasMore: false, total: undefined }
  return reply.page(page)
})
`

t.test(`the types of a collection with 50 fields cost the compiler less than ${most} instantiations`, (t) => {
  const base = instantiations(home, withoutCollection)
  const whole = instantiations(home, withCollection)
  t.comment(`${base} without a collection, ${whole} with one, ${whole - base} for it`)
  t.ok(base > 0)
  t.ok(whole - base < most, `${whole - base}`)
  t.end()
})
