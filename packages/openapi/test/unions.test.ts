import { breakingChanges } from '@concordat/openapi/diff'
import t from 'tap'
import type { Loose } from './shop.ts'

interface Kind {
  readonly tagged: boolean
  readonly shape: 'flat' | 'nested' | 'recursive'
  readonly size: number
}
type Change = (branch: Loose, number: number) => unknown

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const text = { type: 'string', maxLength: 100 }

// A union that is sent and read. Without constants, each branch could fit into each other one by its names.
function documentOf({ tagged, shape, size }: Kind, change: Change = () => undefined, order = (names: readonly string[]) => names): Loose {
  const names = Array.from({ length: size }, (_, number) => `Kind${number}`)
  const list = { oneOf: order(names).map(ref) }
  const inner = {
    flat: {},
    nested: { inner: { oneOf: [text, { type: 'integer' }] } },
    recursive: { parts: { type: 'array', items: list } }
  }
  const branches = names.map((name, number) => {
    const own = { [`field${number}`]: { ...text, minLength: number } }
    const properties: Loose = { ...(tagged && { type: { const: name } }), ...inner[shape], note: text, ...own }
    const branch = { type: 'object', required: [tagged ? 'type' : `field${number}`], properties }
    change(branch, number)
    return [name, branch]
  })
  const content = { 'application/json': { schema: ref('Union') } }
  return {
    openapi: '3.1.1',
    info: { title: 'Kinds', version: '1.0.0' },
    paths: { '/v1/kinds': { post: { requestBody: { content }, responses: { 200: { description: 'One.', content } } } } },
    components: { schemas: { Union: list, ...Object.fromEntries(branches) } }
  }
}

const extended: Change = ({ properties }) => (properties.added = text)
const wider: Change = ({ properties }) => (properties.note = { ...text, maxLength: 200 })
const ofOne =
  (change: Change): Change =>
  (branch, number) =>
    number === 3 && change(branch, number)
const reversed = (names: readonly string[]) => names.toReversed()

const rows: readonly (readonly [what: string, breaks: boolean, change?: Change | undefined, order?: typeof reversed])[] = [
  ['nothing changes', false],
  ['the order changes', false, undefined, reversed],
  ['all branches get a field', false, extended],
  ['all branches get a field, in another order', false, extended, reversed],
  ['one branch gets a field', false, ofOne(extended)],
  ['a field of all branches is wider', true, wider],
  ['a field of all branches is wider, in another order', true, wider, reversed],
  ['a field of one branch is wider', true, ofOne(wider)]
]
const kinds = [true, false].flatMap((tagged) =>
  (['flat', 'nested', 'recursive'] as const).flatMap((shape) => [4, 70].map((size) => ({ tagged, shape, size })))
)

for (const kind of kinds) {
  const name = `${kind.size} ${kind.shape} branches ${kind.tagged ? 'with' : 'without'} constants`
  t.test(`compares unions of ${name} [V3]`, async (t) => {
    for (const [what, breaks, change, order] of rows) {
      const changes = breakingChanges(documentOf(kind), documentOf(kind, change, order))
      t.equal(changes.length > 0, breaks, `${what}: ${changes[0]?.problem}`)
      t.notOk(
        changes.some(({ problem }) => problem.includes('cannot be judged')),
        what
      )
    }
  })
}

function same(change: (index: number) => Loose): Loose {
  const oneOf = Array.from({ length: 150 }, (_, index) => ({ type: 'object', properties: change(index) }))
  const content = { 'application/json': { schema: { anyOf: oneOf } } }
  const responses = { 200: { description: 'One.', content } }
  return { openapi: '3.1.1', info: { title: 'A', version: '1' }, paths: { '/v1/kinds': { get: { responses } } } }
}

// Branches with the same names, in another order, each of which changed: none is known to be the one that it was.
t.test('reports what takes too many comparisons, and never as compatible [V3]', async (t) => {
  const was = same((index) => ({ first: { maxLength: index + 1, minLength: index + 1 } }))
  const is = same((index) => ({ first: { maxLength: 150 - index, minLength: 150 - index, pattern: '^a' }, second: text }))
  t.match(breakingChanges(was, is), [{ problem: 'has 86 alternatives that could match too many others, which cannot be judged' }])
})
