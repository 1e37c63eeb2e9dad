// Each mutant puts one known mistake of other pagination libraries into the sources. The tests that it names must then fail:
// a mutant that survives shows that they prove nothing. `npm run mutants` in the package tries all of them;
// arguments are what the names of the wanted ones begin with.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** One mistake, as each `NN-name.json` beside this file describes it. */
interface Mutant {
  /** What goes wrong, in the words of a bug report. */
  readonly row: string
  /** The source to change. */
  readonly file: string
  /** Text that stands exactly once in it, and what to put there. */
  readonly find: string
  readonly replace: string
  /** The test files of which at least one must fail. */
  readonly tests: readonly string[]
}

const secondsPerTest = 300
const home = join(import.meta.dirname, '../..')
// Inside the package, so that a copy finds its dependencies; git ignores it.
const place = join(home, '.tap/mutants')
const wanted = process.argv.slice(2)

const mutants = readdirSync(import.meta.dirname)
  .filter((name) => /^\d.*\.json$/.test(name) && (wanted.length === 0 || wanted.some((start) => name.startsWith(start))))
  .sort()
  .map((name) => [name, JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8')) as Mutant] as const)

const complaints = mutants.length === 0 ? ['There is no such mutant.'] : []
try {
  await requireGreenTests()
  for (const [name, mutant] of complaints.length === 0 ? mutants : []) await tryMutant(name, mutant)
} finally {
  rmSync(place, { recursive: true, force: true })
}
say(complaints.length === 0 ? `Each of ${mutants.length} mutants was caught.` : complaints.join('\n'))
if (complaints.length > 0) process.exitCode = 1

// A test that fails without the mutant says nothing about it.
async function requireGreenTests() {
  const folder = copyPackage('unchanged')
  for (const test of new Set(mutants.flatMap(([, { tests }]) => tests))) {
    if ((await tryTest(folder, test)) !== 'passes') complaints.push(`${test} fails, or skips tests, without any mutant.`)
  }
}

async function tryMutant(name: string, { row, file, find, replace, tests }: Mutant) {
  const folder = copyPackage(name.replace('.json', ''))
  const source = readFileSync(join(folder, file), 'utf8')
  if (source.split(find).length !== 2) {
    complaints.push(`${name}: the text to find stands ${source.split(find).length - 1} times in ${file}. Write the mutant anew.`)
    return
  }
  writeFileSync(
    join(folder, file),
    source.replace(find, () => replace)
  )
  for (const test of tests) {
    const outcome = await tryTest(folder, test)
    if (outcome === 'does not run') {
      complaints.push(`${name} does not even load. Write the mutant anew.`)
      return
    }
    if (outcome === 'fails') {
      say(`caught by ${test}: ${name} – ${row}`)
      rmSync(folder, { recursive: true })
      return
    }
  }
  complaints.push(`${name} survives ${tests.join(', ')}: ${row}`)
}

function copyPackage(name: string) {
  const folder = join(place, name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const part of ['package.json', 'src', 'test']) cpSync(join(home, part), join(folder, part), { recursive: true })
  return folder
}

// A skipped test proves nothing, so it counts as failed: TEST_DATABASE_URL must be set for the tests that need it. A mistake in
// the syntax is no mutant; a test that does not end is stopped, and has noticed.
async function tryTest(folder: string, test: string): Promise<'passes' | 'fails' | 'does not run'> {
  const child = spawn(process.execPath, ['--conditions=@concordat/source', '--no-warnings', test], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: secondsPerTest * 1000,
    killSignal: 'SIGKILL'
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
  })
  const [code, signal] = await once(child, 'close')
  if (/^\s*(not ok|ok .* # SKIP)/im.test(output) || signal !== null) return 'fails'
  return code === 0 ? 'passes' : 'does not run'
}

function say(line: string) {
  process.stdout.write(`${line}\n`)
}
