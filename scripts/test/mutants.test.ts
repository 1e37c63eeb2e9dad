import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'
import t from 'tap'
import { tryMutants } from '../mutants.ts'
import { draw, mutantsOf } from '../mutations.ts'

/** Returns the changed sources by operator. */
function changesOf(source: string) {
  const changes: Record<string, string[]> = {}
  for (const { operator, source: changed } of mutantsOf('a.ts', source)) (changes[operator] ??= []).push(changed)
  return changes
}

/** Returns the names of the five mutants that a seed draws. */
function namesOf(source: string, seed: number) {
  return draw(mutantsOf('a.ts', source), seed, 5).map(({ name }) => name)
}

t.test('each operator makes its change, and the result parses', async (t) => {
  const cases: [source: string, operator: string, changed: string[]][] = [
    ['a <= b > c', 'boundary', ['a <= b >= c', 'a < b > c']],
    ['a !== (b === c)', 'equality', ['a === (b === c)', 'a !== (b !== c)']],
    ['a && (b || c)', 'logic', ['a || (b || c)', 'a && (b && c)']],
    ['a += (b * c)', 'arithmetic', ['a -= (b * c)', 'a += (b / c)']],
    ['a.some(b).min', 'method', ['a.some(b).max', 'a.every(b).min']],
    ['if (a < b) c\nwhile (!d) e', 'condition', ['if (!(a < b)) c\nwhile (!d) e']],
    ['f(!a)', 'negation', ['f(a)']],
    ['f(1_000)', 'number', ['f(1001)']],
    ['f(true)', 'boolean', ['f(false)']],
    ["f('a', '', `b${c}`)", 'text', ["f('', '', `b${c}`)", "f('a', 'mutant', `b${c}`)", "f('a', '', ``)"]],
    ['f([a], [])', 'list', ['f([], [])']],
    ['const f = () => ({})', 'return', ['const f = () => undefined']],
    ['function f(): A { return a }', 'return', ['function f(): A { return undefined }']],
    ['if (a) await f(\n  b\n)', 'statement', ['if (a) ;']],
    ['function f(a: A = b) { c = d ?? e }', 'default', ['function f(a: A) { c = d ?? e }', 'function f(a: A = b) { c = d }']],
    ['f(a?.b, c?.[d], e?.(g))', 'optional', ['f(a.b, c?.[d], e?.(g))', 'f(a?.b, c[d], e?.(g))', 'f(a?.b, c?.[d], e(g))']],
    ['f(/^a\\$|\\^b$/i)', 'anchor', ['f(/a\\$|\\^b$/i)', 'f(/^a\\$|\\^b/i)']]
  ]
  for (const [source, operator, changed] of cases) {
    t.strictSame(changesOf(source)[operator], changed, `${operator}: ${source}`)
    for (const result of changed) t.strictSame(parseSync('a.ts', result).errors, [], result)
  }
})

t.test('imports, types, names of properties and the wording of messages are not changed', async (t) => {
  const source = `import a from 'a'
    export * from 'b'
    export { c } from 'c'
    type D = 1 | 'd' extends true ? [2] : 'e'
    const f: Record<'f', true> = { 'f': g as 3, message: 'h', en: \`i\` }
    class J { 'j': 4 = k }
    throw new TypeError('l')`
  t.strictSame(mutantsOf('a.ts', source), [])
})

t.test('the same seed draws the same mutants, a different seed different ones, and a change elsewhere does not affect them', async (t) => {
  const source = Array.from({ length: 50 }, (_, index) => `f${index}(a < b)`).join('\n')
  t.equal(new Set(namesOf(source, 1)).size, 5)
  t.strictSame(namesOf(source, 1), namesOf(source, 1))
  t.notSame(namesOf(source, 1), namesOf(source, 2))
  t.strictSame(namesOf(`// first\n${source}`, 1), namesOf(source, 1))
  t.strictSame(draw(mutantsOf('a.ts', 'a < b'), 1, 0), [])
})

t.test('a mutant is killed by a test of its package or of a dependent, or survives, and a test that always fails kills none', async (t) => {
  const source = 'export const f = () => 1\nexport const g = () => 2\nexport const h = () => 3\n'
  const root = t.testdir({
    packages: {
      one: {
        'package.json': '{"name":"one","layer":1,"type":"module","exports":{"@concordat/source":"./src/index.ts"}}',
        src: { 'index.ts': source },
        test: {
          'a.test.ts': 'process.exit(1)',
          'b.test.ts': "import assert from 'node:assert'\nimport { f } from '../src/index.ts'\nassert.equal(f(), 1)",
          'c.long.test.ts': 'process.exit(1)'
        }
      },
      two: {
        'package.json': '{"name":"two","layer":2,"type":"module","dependencies":{"one":"*"}}',
        test: {
          'd.test.ts': "import assert from 'node:assert'\nimport { g } from 'one'\nassert.equal(g(), 2)"
        },
        node_modules: { one: t.fixture('symlink', '../../one') }
      }
    }
  })
  mkdirSync(join(root, 'node_modules/.pnpm'), { recursive: true })
  const numbers = mutantsOf('packages/one/src/index.ts', source).filter(({ operator }) => operator === 'number')
  const killers = new Map<string, string | undefined>()
  const report = ({ name }: { readonly name: string }, killer: string | undefined) => killers.set(name, killer)
  await tryMutants(root, numbers, { env: process.env, signal: new AbortController().signal, report })
  t.strictSame(
    numbers.map(({ name }) => killers.get(name)),
    ['packages/one/test/b.test.ts', 'packages/two/test/d.test.ts', undefined]
  )
})

t.test('an interrupted run ends its tests', async (t) => {
  const files = {
    'package.json': '{"name":"one","layer":1}',
    src: { 'a.ts': 'f(1)' },
    test: { 'a.test.ts': 'setInterval(() => {}, 1000)' }
  }
  const root = t.testdir({ packages: { one: files }, node_modules: { '.pnpm': {} } })
  const controller = new AbortController()
  const done = tryMutants(root, mutantsOf('packages/one/src/a.ts', 'f(1)'), {
    env: process.env,
    signal: controller.signal,
    report: () => t.fail()
  })
  controller.abort(new Error('Stopped.'))
  await t.rejects(done, { message: 'Stopped.' })
})
