import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { childEnvironment } from '@concordat/test-harness/child'
import { isLong, scaled } from '@concordat/test-harness/scale'
import t from 'tap'
import { skip } from './postgres.ts'

/** A known mistake of other pagination libraries, as each `NN-name.json` in the folder `mutants` describes it. */
interface Mutant {
  /** What goes wrong, in the words of a bug report. */
  readonly row: string
  /** The source to change. */
  readonly file: string
  /** Text that occurs exactly once in it, and the text to put there. */
  readonly find: string
  readonly replace: string
  /** The test files of which at least one must fail. */
  readonly tests: readonly string[]
}

const home = join(import.meta.dirname, '..')
// Inside the package, so that a copy finds its dependencies; git ignores it.
const place = join(home, '.tap/mutants')
t.teardown(() => rmSync(place, { recursive: true, force: true }))

const mutants = new Map(
  readdirSync(join(home, 'test/mutants'))
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => [name, JSON.parse(readFileSync(join(home, 'test/mutants', name), 'utf8')) as Mutant])
)
// The quick tier shows with one mutant that a mistake is noticed; the long tier tries all of them.
const tried = [...mutants].slice(0, scaled(1, mutants.size))

t.test('each mutant fits its source: what it changes stands there once, and the tests that should catch it exist', async (t) => {
  t.ok(mutants.size > 0)
  for (const [name, { file, find, tests }] of mutants) {
    t.equal(readFileSync(join(home, file), 'utf8').split(find).length - 1, 1, name)
    for (const test of tests) t.ok(existsSync(join(home, test)), `${name}: ${test}`)
  }
})

t.test('the tests that should catch a mutant pass without it', { skip: isLong && skip }, async (t) => {
  const folder = copyPackage('unchanged')
  for (const test of new Set(tried.flatMap(([, { tests }]) => tests))) t.equal(await outcomeOf(folder, test), 'passes', test)
})

t.test('each mutant is caught by one of its tests', { skip: isLong && skip }, async (t) => {
  for (const [name, { row, file, find, replace, tests }] of tried) {
    const folder = copyPackage(name.replace('.json', ''))
    const source = readFileSync(join(folder, file), 'utf8')
    writeFileSync(
      join(folder, file),
      source.replace(find, () => replace)
    )
    let outcome = 'passes'
    for (const test of tests) if (outcome === 'passes') outcome = await outcomeOf(folder, test)
    t.equal(outcome, 'fails', `${name}: ${row}`)
    rmSync(folder, { recursive: true })
  }
})

function copyPackage(name: string) {
  const folder = join(place, name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const part of ['package.json', 'src', 'test']) cpSync(join(home, part), join(folder, part), { recursive: true })
  return folder
}

// A mistake in the syntax is not a mutant; a test that does not end within its time limit has noticed.
async function outcomeOf(folder: string, test: string): Promise<'passes' | 'fails' | 'does not run'> {
  const child = spawn(process.execPath, ['--conditions=@concordat/source', '--no-warnings', test], {
    cwd: folder,
    // Walks and draws are as many as in the quick tier, which must catch it.
    env: { ...childEnvironment(), TAP_TIMEOUT: '120', TEST_SCALE: 'quick' },
    stdio: ['ignore', 'pipe', 'ignore']
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  const [code] = await once(child, 'close')
  if (/^\s*not ok/m.test(output)) return 'fails'
  return code === 0 ? 'passes' : 'does not run'
}
