import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { childEnvironment } from '@concordat/test-harness/child'
import { isLong, scaled } from '@concordat/test-harness/scale'
import t from 'tap'
import { skip } from './postgres.ts'

/** A known mistake of other pagination libraries. Each `NN-name.json` in the folder `mutants` describes a mistake. */
interface Mutant {
  /** The bug, as the title of a bug report. */
  readonly row: string
  /** The source file to change. */
  readonly file: string
  /** The text that occurs exactly once in the file, and its replacement. */
  readonly find: string
  readonly replace: string
  /** The test files of which at least one must fail. */
  readonly tests: readonly string[]
}

const home = join(import.meta.dirname, '..')
// Inside the package, so that a copy finds its dependencies. git ignores the folder.
const place = join(home, '.tap/mutants')
t.teardown(() => rmSync(place, { recursive: true, force: true }))

const mutants = new Map(
  readdirSync(join(home, 'test/mutants'))
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => [name, JSON.parse(readFileSync(join(home, 'test/mutants', name), 'utf8')) as Mutant])
)
// The quick tier runs a single mutant to show that the tests detect it; the long tier runs all.
const tried = [...mutants].slice(0, scaled(1, mutants.size))

t.test('each mutant applies to its source: its text occurs once, and its tests exist', async (t) => {
  t.ok(mutants.size > 0)
  for (const [name, { file, find, tests }] of mutants) {
    t.equal(readFileSync(join(home, file), 'utf8').split(find).length - 1, 1, name)
    for (const test of tests) t.ok(existsSync(join(home, test)), `${name}: ${test}`)
  }
})

t.test('the tests of each mutant pass without it', { skip: isLong && skip }, async (t) => {
  const folder = copyPackage('unchanged')
  for (const test of new Set(tried.flatMap(([, { tests }]) => tests))) t.equal(await outcomeOf(folder, test), 'passes', test)
})

t.test('at least one of its tests detects each mutant', { skip: isLong && skip }, async (t) => {
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

// A syntax error is not a mutant. A test that exceeds its time limit has detected the mutant.
async function outcomeOf(folder: string, test: string): Promise<'passes' | 'fails' | 'does not run'> {
  const child = spawn(process.execPath, ['--conditions=@concordat/source', '--no-warnings', test], {
    cwd: folder,
    // Runs as many walks and draws as the quick tier, which must detect the mutant.
    env: { ...childEnvironment(), TAP_TIMEOUT: '120', TEST_SCALE: 'quick' },
    stdio: ['ignore', 'pipe', 'ignore']
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  const [code] = await once(child, 'close')
  if (/^\s*not ok/m.test(output)) return 'fails'
  return code === 0 ? 'passes' : 'does not run'
}
