// `npm test`: finds the services, runs every test once, and ends with "N passed, N failed".
// `npm test -- packages/links/test/*.test.ts` runs those files. `--coverage` measures the coverage; of a whole run it is required.
// `--long` is the long tier: what `npm test` proves once is repeated, the `*.long.test.ts` files are run too, and the service of
// the example is also tested on PGlite.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { compileCache } from '@concordat/test-harness/child'
import { coverageGaps, keepCoverage } from './coverage.ts'
import { type Outcome, readOutcomes, slowestFiles, total } from './outcome.ts'
import { run } from './run.ts'
import type { Service } from './service-process.ts'
import { findServices } from './services.ts'
import { processesFor, startTests } from './test-process.ts'
import { filesUnder, repository } from './workspace.ts'

const words = process.argv.slice(2)
const options = ['--coverage', '--require-services', '--long']
const patterns = words.filter((word) => !options.includes(word))
const isLong = words.includes('--long') || process.env['TEST_SCALE'] === 'long'
const measuresCoverage = words.includes('--coverage')
const servicesRequired = words.includes('--require-services') || process.env['CI'] === 'true'
// Undefined for the whole run.
let chosen: readonly string[] | undefined
// For a file that waits for ever. The slowest takes 45 s on two processors, and was seen to take 112 s on slow ones.
const maxSeconds = isLong ? 3600 : 240
// Of files. More than these failed for a reason of their own.
const mostRepeated = 4
// Where `tap report text` looks for it, which shows the lines that no test runs.
const coverageFolder = join(repository, '.tap/coverage')
const rawCoverageFolder = join(repository, '.tap/raw-coverage')
const services: Service[] = []
const notes: string[] = []
let outcomes: Outcome[] = []
const begin = performance.now()
const interruption = new AbortController()

// This process stays to stop its services and to say how far the run came.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interruption.abort(new Error(`Stopped by ${name}.`)))
try {
  chosen = patterns.length > 0 ? patterns.flatMap(matchingFiles) : undefined
  const files = chosen ?? testFiles()
  const { env, missing } = await findServices(services)
  notes.push(...missing)
  if (servicesRequired && missing.length > 0) process.exitCode = 1
  await runTests(env, files)
  if (chosen === undefined && isLong) {
    console.log('The tests of the example once more, on PGlite:')
    await runTests({ ...env, TEST_DATABASE_URL: undefined }, testFiles('examples'))
  }
  if (chosen === undefined && !isLong) await repeatAlone(env)
  if (measuresCoverage) await reportCoverage()
} catch (error) {
  process.exitCode = 1
  console.error(error)
} finally {
  await Promise.all(services.map((service) => service.stop()))
}
const seconds = Math.round((performance.now() - begin) / 1000)
const { passed, failed } = total(outcomes)
for (const line of slowestFiles(outcomes, 12)) console.log(line)
// Once more, since who sees only the end of a log needs no other line.
for (const line of outcomes.filter(({ failed }) => failed > 0).flatMap(({ lines }) => lines)) console.log(line)
console.log(`The run took ${seconds} s on ${availableParallelism()} processors, load ${loadavg()[0]?.toFixed(1)} at its end.`)
for (const note of notes) console.log(note)
if (failed > 0 || passed === 0) process.exitCode = 1
console.log(`${passed} passed, ${failed || Number(process.exitCode ?? 0)} failed`)

function testFiles(place: 'examples' | 'everywhere' = 'everywhere') {
  const folders = place === 'examples' ? 'examples/*' : '{packages/*,examples/*,scripts}'
  return filesUnder(repository, `${folders}/test/**/*.test.ts`).filter((file) => isLong || !file.endsWith('.long.test.ts'))
}

function matchingFiles(pattern: string) {
  const files = filesUnder(repository, pattern)
  if (files.length === 0) throw new Error(`No file matches ${pattern}. Give paths or globs from the root.`)
  return files
}

/** Runs files in processes. One more at a time than there are processors, since some of them wait. */
async function runTests(env: NodeJS.ProcessEnv, files: readonly string[]) {
  const queue = processesFor(repository, files)
  if (measuresCoverage) for (const folder of [coverageFolder, rawCoverageFolder]) makeEmpty(folder)
  await Promise.all(Array.from({ length: availableParallelism() + 1 }, work))

  async function work() {
    for (let files = queue.shift(); files !== undefined; files = queue.shift()) {
      interruption.signal.throwIfAborted()
      await runFiles(files, env)
    }
  }
}

async function runFiles(files: readonly string[], env: NodeJS.ProcessEnv) {
  const coverage = join(rawCoverageFolder, `${files[0]}`.replaceAll('/', '-'))
  const processEnv = {
    ...env,
    TEST_SCALE: isLong ? 'long' : 'quick',
    ...(measuresCoverage ? { NODE_V8_COVERAGE: coverage } : compileCache)
  }
  const run = { cwd: repository, env: processEnv, maxSeconds, signal: interruption.signal, stderr: 'inherit' } as const
  const { stdout, ended } = startTests(files, run)
  const found = await readOutcomes(files, stdout, ended)
  outcomes.push(...found)
  for (const line of found.flatMap(({ lines }) => lines)) console.log(line)
  if (measuresCoverage) keepCoverage(repository, coverage, coverageFolder)
  return total(found)
}

/**
 * Repeats the few files that failed once more, with nothing beside them: others that ran then took the time that they wait for, or what they count. What
 * fails again counts. What passes is named at the end with its first failure, because such a test is to be made independent of others.
 */
async function repeatAlone(env: NodeJS.ProcessEnv) {
  const failures = outcomes.filter(({ failed }) => failed > 0)
  if (failures.length === 0 || failures.length > mostRepeated) return
  console.log('Once more, alone, what failed beside others:')
  outcomes = outcomes.filter(({ failed }) => failed === 0)
  for (const { name, lines } of failures) {
    const { failed } = await runFiles([name], env)
    if (failed === 0) notes.push(`${name} failed beside others and passed alone. Beside others:`, ...lines)
  }
}

async function reportCoverage() {
  if (chosen !== undefined) {
    console.log((await run('tap', ['report', 'text', '--allow-incomplete-coverage', '--show-full-coverage'])).output)
    return
  }
  const { output } = await run('tap', ['report', 'json-summary', '--allow-incomplete-coverage'])
  const summary = join(repository, '.tap/report/coverage-summary.json')
  if (!existsSync(summary)) throw new Error(`The coverage could not be read.\n${output}`)
  const gaps = coverageGaps(repository, JSON.parse(readFileSync(summary, 'utf8')))
  if (gaps.length === 0) return
  notes.push('Coverage is not complete; `tap report text` shows the lines:', ...gaps.map((gap) => `  ${gap}`))
  process.exitCode = 1
}

function makeEmpty(folder: string) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
}
