// `npm test`: finds the services, runs every test once, checks the coverage, and ends with "N passed, N failed".
// `npm test -- packages/links/test/*.test.ts` runs those files and checks no coverage; the words go to tap.
// `--long` is the long tier: what `npm test` proves once is repeated, the `*.long.test.ts` files are run too, and the service of
// the example is also tested on PGlite; docs/long-run.md is the log.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { coverageGaps } from './coverage.ts'
import { longRunLog, longRunPage } from './long-run.ts'
import { joined, type Outcome, readOutcome, slowestFiles } from './outcome.ts'
import { type Prepared, prepareDatabases } from './prepared-databases.ts'
import { chromium, findProgram, findService, haproxy, nginx, postgres, redis, type Service, varnish } from './services.ts'
import { filesUnder, repository } from './workspace.ts'

const words = process.argv.slice(2)
const filters = words.filter((word) => !['--require-services', '--long'].includes(word))
const isWhole = filters.length === 0
const isLong = words.includes('--long') || process.env['TEST_SCALE'] === 'long'
const servicesRequired = words.includes('--require-services') || process.env['CI'] === 'true'
const kinds = [postgres, redis]
const services: Service[] = []
const notes: string[] = []
const begin = performance.now()
let prepared: Prepared | undefined
let tap: ChildProcess | undefined
let interrupted: NodeJS.Signals | undefined
let outcome: Outcome = { passed: 0, failed: 0, files: [] }

// The children get the signal too; this process stays to stop its services and to say how far the run came.
process.on('SIGINT', interrupt).on('SIGTERM', interrupt)
try {
  const env = await findServices()
  if (isWhole || filters.some((filter) => filter.includes('examples/'))) prepared = await prepareDatabases(env)
  Object.assign(env, prepared?.env)
  outcome = await runTests(env, isWhole ? testFiles() : filters)
  if (isWhole && isLong) {
    console.log('The tests of the example once more, on PGlite:')
    outcome = joined(outcome, await runTests({ ...env, TEST_DATABASE_URL: undefined }, testFiles('examples')))
  }
  if (isWhole && !isLong) checkCoverage()
} catch (error) {
  outcome.failed ||= 1
  process.exitCode = 1
  console.error(error)
} finally {
  await prepared?.remove()
  await Promise.all(services.map((service) => service.stop()))
}
const seconds = Math.round((performance.now() - begin) / 1000)
for (const line of slowestFiles(outcome.files, 12)) console.log(line)
console.log(`The run took ${seconds} s.`)
for (const note of notes) console.log(note)
if (outcome.failed > 0 || outcome.passed === 0) process.exitCode = 1
if (isWhole && isLong) writeFileSync(join(repository, longRunLog), longRunPage(outcome, seconds, notes))
console.log(`${outcome.passed} passed, ${outcome.failed} failed`)

function testFiles(place: 'examples' | 'everywhere' = 'everywhere') {
  const folders = place === 'examples' ? 'examples/*' : '{packages/*,examples/*,scripts}'
  return filesUnder(repository, `${folders}/test/**/*.test.ts`).filter((file) => isLong || !file.endsWith('.long.test.ts'))
}

async function findServices() {
  const env = { ...process.env }
  for (const kind of kinds) {
    const service = await findService(kind)
    if (service) {
      services.push(service)
      env[kind.variable] = service.url
      console.log(`${kind.name}: ${service.how}`)
    } else {
      notes.push(`Not run: the tests on ${kind.name}. Start one and set ${kind.variable} to its address, or install ${kind.debianPackage}.`)
      if (servicesRequired) process.exitCode = 1
    }
  }
  for (const program of [nginx, haproxy, varnish, chromium]) {
    const path = findProgram(program)
    if (path) env[program.variable] = path
    else {
      notes.push(`Not run: the tests with ${program.name}. Install it, or set ${program.variable} to where it is.`)
      if (servicesRequired) process.exitCode = 1
    }
  }
  return env
}

async function runTests(env: NodeJS.ProcessEnv, files: readonly string[]) {
  const coverage = isWhole && !isLong ? ['--allow-incomplete-coverage', '--coverage-report=json-summary'] : ['--disable-coverage']
  if (interrupted) throw new Error(`Stopped by ${interrupted}.`)
  // By itself, tap leaves a processor free, which on two of them means one file at a time.
  const jobs = `--jobs=${availableParallelism()}`
  const child = spawn('tap', ['run', '--reporter=tap', jobs, ...(isLong ? ['--timeout=3600'] : []), ...coverage, ...files], {
    cwd: repository,
    env: { ...env, TEST_SCALE: isLong ? 'long' : 'quick' },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  tap = child
  const [found, [code, signal]] = await Promise.all([readOutcome(child.stdout, console.log), once(child, 'close')])
  if (code !== 0 && found.failed === 0) {
    notes.push(`tap ended with ${signal ?? `code ${code}`} although no assertion failed.`)
    process.exitCode = 1
  }
  return found
}

function interrupt(signal: NodeJS.Signals) {
  interrupted = signal
  tap?.kill(signal)
}

function checkCoverage() {
  const gaps = coverageGaps(repository, JSON.parse(readFileSync(join(repository, '.tap/report/coverage-summary.json'), 'utf8')))
  if (gaps.length === 0) return
  notes.push('Coverage is not complete; `tap report text` shows the lines:', ...gaps.map((gap) => `  ${gap}`))
  process.exitCode = 1
}
