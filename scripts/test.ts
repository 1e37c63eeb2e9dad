// `npm test`: finds the services, runs every test once, checks the coverage, and ends with "N passed, N failed".
// Arguments go to tap: `npm test packages/links/test/*.test.ts` runs those files and checks no coverage.
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { coverageGaps } from './coverage.ts'
import { type Outcome, readOutcome } from './outcome.ts'
import { chromium, findProgram, findService, haproxy, nginx, postgres, redis, type Service, varnish } from './services.ts'
import { repository } from './workspace.ts'

const filters = process.argv.slice(2).filter((argument) => argument !== '--require-services')
const servicesRequired = process.argv.includes('--require-services') || process.env['CI'] === 'true'
const kinds = [postgres, redis]
const services: Service[] = []
const notes: string[] = []
let tap: ChildProcessByStdio<null, Readable, null> | undefined
let interrupted: NodeJS.Signals | undefined
let outcome: Outcome = { passed: 0, failed: 0 }

// The children get the signal too; this process stays to stop its services and to say how far the run came.
process.on('SIGINT', interrupt).on('SIGTERM', interrupt)
try {
  const env = await findServices()
  outcome = await runTests(env)
  if (filters.length === 0) checkCoverage()
} catch (error) {
  outcome.failed ||= 1
  process.exitCode = 1
  console.error(error)
} finally {
  await Promise.all(services.map((service) => service.stop()))
}
for (const note of notes) console.log(note)
if (outcome.failed > 0 || outcome.passed === 0) process.exitCode = 1
console.log(`${outcome.passed} passed, ${outcome.failed} failed`)

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

async function runTests(env: NodeJS.ProcessEnv) {
  const coverage = filters.length === 0 ? ['--allow-incomplete-coverage', '--coverage-report=json-summary'] : ['--disable-coverage']
  if (interrupted) throw new Error(`Stopped by ${interrupted}.`)
  tap = spawn('tap', ['run', '--reporter=tap', ...coverage, ...filters], { cwd: repository, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [found, [code, signal]] = await Promise.all([readOutcome(tap.stdout, console.log), once(tap, 'close')])
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
