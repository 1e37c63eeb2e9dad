// Each round trip of an operation to PostgreSQL, Redis and a receiver is recorded, then faulted, one fault in one run. FAULTS is a regular expression
// that selects runs by their titles, for example FAULTS='^sign-in, kill'.

import { setTimeout as delay } from 'node:timers/promises'
import { administer } from '@concordat/test-harness/database-roles'
import { ownPostgres } from '@concordat/test-harness/own-postgres'
import { ownRedis } from '@concordat/test-harness/own-redis'
import type { Interceptor, RoundTrip } from '@concordat/test-harness/round-trips'
import t, { type Test } from 'tap'
import { furnish, type Operation, operations, type Place, type Run, signIn } from './fault-operations.ts'
import { openStation, type Received, type Servers, type ServiceProcess } from './fault-station.ts'
import { server } from './fresh-database.ts'

const faults = ['cut before', 'cut after', 'delay', 'kill', 'stop'] as const
type Fault = (typeof faults)[number]

/** A round trip of an operation, recognized by its label and by how often the label occurred before. */
interface Target {
  readonly server: string
  readonly label: string
  /** Counted from 1. */
  readonly occurrence: number
  /** A poll also occurs when there is nothing to do. It counts when its response has more rows than this. */
  readonly rowsWhenIdle: number
}

interface Case {
  readonly operation: Operation
  readonly target: Target
  readonly fault: Fault
}

interface Ran extends Case {
  readonly problems: readonly string[]
  /** The codes of the responses that asked for a retry. */
  readonly codes: readonly string[]
  readonly loggedErrors: readonly string[]
  readonly seconds: number
}

// How many services run at the same time. Most of them wait for a timeout.
const stations = 8
// Longer than the timeouts of calls: 15 s of a statement, 0.25 s of a count and 20 s of an attempt.
const delayMs: Readonly<Record<string, number>> = { PostgreSQL: 16_000, Redis: 1000, receiver: 21_000 }
const stopMs = 40_000
// For a retry to succeed, and then for the queue to finish. A fault that is not over after this time was not survived.
const patienceMs = 300_000
const idleMs = 6000
const maxRuns = 10
const forwarding: Interceptor = { request: () => 'forward', response: () => 'forward' }
// Without the transaction that the round trip is part of.
const kindOf = (target: Target) => keyOf(target).replace(/ \(in .*/, '')
// Chance decides which responses are counted for their client.
const keyOf = ({ server: name, label }: Pick<RoundTrip, 'server' | 'label'>) =>
  `${name}: ${label.replace(', INSERT INTO concordat.idempotency_sizes', '')}`

/** A place whose service can be replaced. */
class Workplace implements Place {
  readonly station: Place['station']
  authorization = { 'ada@example.com': '', 'ops@example.com': '' }
  #service: ServiceProcess
  #signedInAt = Number.NEGATIVE_INFINITY

  private constructor(station: Place['station'], service: ServiceProcess) {
    this.station = station
    this.#service = service
  }

  static async open(t: Test, servers: Servers, number: number) {
    const station = await openStation(t, servers, number)
    const place = new Workplace(station, await station.start())
    await place.prepare()
    await furnish(place, place.service())
    await place.finished()
    return place
  }

  readonly service = () => this.#service

  async replaceService() {
    await this.#service.kill()
    this.#service = await this.station.start()
  }

  /** Makes runs independent of each other: tokens are valid, and nothing was counted. */
  async prepare() {
    await this.station.redis.flushdb()
    await this.station.sql.query('TRUNCATE concordat.login_attempts')
    if (performance.now() - this.#signedInAt < 5 * 60_000) return
    for (const username of ['ada@example.com', 'ops@example.com'] as const)
      await eventually(`${username} to be signed in`, async () => {
        const header = await signIn(this.#service, username)
        this.authorization[username] = header ?? ''
        return header !== undefined
      })
    this.#signedInAt = performance.now()
  }

  /** Waits until the queue is empty. */
  async finished() {
    await eventually('the queue to be empty', async () => (await this.#jobs()).length === 0)
  }

  /** Returns what should not remain when the queue is empty: keys without a response, and open transactions. */
  async leftovers() {
    const { rows } = await this.station.sql.query<{ keys: string }>(
      'SELECT count(*) AS keys FROM concordat.idempotency_keys WHERE status IS NULL'
    )
    await eventually('all transactions to end', async () => {
      const open = await this.station.sql.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`
      )
      return open.rows.length === 0
    })
    return rows[0]?.keys === '0' ? [] : [`${rows[0]?.keys} keys have no response`]
  }

  async #jobs() {
    const { rows } = await this.station.sql.query(
      `SELECT name, state FROM concordat_queue.job WHERE state < 'completed' AND name <> 'schedules'`
    )
    return rows
  }
}

async function eventually(what: string, condition: () => Promise<boolean>) {
  const since = performance.now()
  while (!(await condition())) {
    if (performance.now() - since > patienceMs) throw new Error(`Waited ${patienceMs / 1000} s for ${what}.`)
    await delay(50)
  }
}

/** Repeats a request until it succeeds, as a client does. Returns the result, and the codes of the errors. */
async function succeed(run: Run, service: () => ServiceProcess, untilOver: () => Promise<void>) {
  const codes: string[] = []
  const problems: string[] = []
  let result: unknown
  const since = performance.now()
  await eventually('a success', async () => {
    const received = await run.attempt(service())
    if (received === undefined) {
      codes.push('connection lost')
      await untilOver()
      return false
    }
    result = run.resultOf(received)
    if (result !== undefined) return true
    codes.push(codeOf(received))
    problems.push(...problemsOf(received))
    await delay(Math.min(received.retryAfterSeconds, 5) * 1000)
    return false
  })
  return { result, codes, problems, seconds: (performance.now() - since) / 1000 }
}

function codeOf({ status, body }: Received): string {
  const failed = (body?.data as { status: number; body?: { error?: { code: string } } }[] | undefined)?.flatMap(
    ({ status: own, body: inner }) => (own >= 400 ? `${own} ${inner?.error?.code}` : [])
  )
  return `${status} ${failed === undefined ? body?.error?.code : `[${failed.join(', ')}]`}`
}

/** Returns what is wrong with a response that is not a success: it must be a transient error in the envelope. */
function problemsOf(received: Received): string[] {
  const { status, body } = received
  if (status === 200) return body.data.filter((one: Received) => one.status >= 400).flatMap(problemsOf)
  const isTransient = status === 503 || status === 504 || status === 424 || status === 409
  const { error, _meta: meta, _links: links } = body ?? {}
  const isEnveloped =
    error?.status === status && typeof error.code === 'string' && typeof error.message === 'string' && meta && links?.length > 0
  return isTransient && isEnveloped ? [] : [`unexpected response ${status}: ${JSON.stringify(body)}`]
}

// A connection is made when the pool has none, and a lease is renewed when a job takes long.
const isTimed = /^(connect|UPDATE concordat_queue\.job_common)$/

/** Records which round trips occur in each of two runs of an operation, except those that are known. */
async function record(place: Workplace, operation: Operation, idle: ReadonlyMap<string, number>, known: ReadonlySet<string>) {
  const [first, second] = [await once(), await once()]
  const inBoth = new Set(second.map((target) => `${keyOf(target)} ${target.occurrence}`))
  return first.filter((target) => inBoth.has(`${keyOf(target)} ${target.occurrence}`) && !known.has(keyOf(target)))

  async function once() {
    const trips: RoundTrip[] = []
    await place.prepare()
    const run = await operation.begin(place)
    place.station.interceptor = { request: (trip) => (trips.push(trip), 'forward'), response: () => 'forward' }
    const { result, codes } = await succeed(run, place.service, async () => {})
    if (codes.length > 0) throw new Error(`${operation.name} failed without a fault: ${codes.join()}`)
    await place.finished()
    place.station.interceptor = forwarding
    const problems = await run.problems(place.service(), result)
    if (problems.length > 0) throw new Error(`${operation.name} has a problem without a fault: ${problems.join()}`)
    const counts = new Map<string, number>()
    return trips.flatMap((trip): Target[] => {
      const rowsWhenIdle = idle.get(keyOf(trip)) ?? -1
      if (isTimed.test(trip.label) || trip.rows <= rowsWhenIdle) return []
      const occurrence = (counts.get(keyOf(trip)) ?? 0) + 1
      counts.set(keyOf(trip), occurrence)
      return [{ server: trip.server, label: trip.label, occurrence, rowsWhenIdle }]
    })
  }
}

/** Records the round trips of a service that does nothing, with the most rows of each. */
async function recordIdle(place: Workplace) {
  const trips: RoundTrip[] = []
  place.station.interceptor = { request: (trip) => (trips.push(trip), 'forward'), response: () => 'forward' }
  await delay(idleMs)
  place.station.interceptor = forwarding
  const rows = new Map<string, number>()
  for (const trip of trips) rows.set(keyOf(trip), Math.max(trip.rows, rows.get(keyOf(trip)) ?? 0))
  return rows
}

// What belongs to no request.
const isOfQueue = ({ server: name, label }: Target) => name === 'receiver' || (name === 'PostgreSQL' && !label.includes('idempotency_keys'))

/** Runs an operation with one fault. Returns undefined if the round trip did not occur. */
async function runCase(place: Workplace, { operation, target, fault }: Case) {
  const { station } = place
  await place.prepare()
  place.service().takeErrors()
  const run = await operation.begin(place)
  const hit = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  let isHit = false
  let seen = 0
  const isTarget = (trip: RoundTrip, at: 'request' | 'response') => {
    if (isHit || keyOf(trip) !== keyOf(target) || (at === 'response' && trip.rows <= target.rowsWhenIdle)) return false
    seen += 1
    if (seen < target.occurrence) return false
    isHit = true
    hit.resolve()
    return true
  }
  const end = (work: Promise<unknown>) => void work.then(() => over.resolve(), over.reject)

  station.interceptor = {
    ...forwarding,
    ...((fault === 'cut before' || fault === 'delay') && {
      async request(trip: RoundTrip) {
        if (!isTarget(trip, 'request')) return 'forward'
        if (fault === 'delay') await delay(delayMs[target.server])
        over.resolve()
        return fault === 'delay' ? 'forward' : 'cut'
      }
    }),
    ...((fault === 'cut after' || fault === 'kill' || fault === 'stop') && {
      response(trip: RoundTrip) {
        if (!isTarget(trip, 'response')) return 'forward'
        if (fault === 'kill') end(place.replaceService())
        if (fault === 'cut after') over.resolve()
        if (fault !== 'stop') return 'cut'
        place.service().signal('SIGSTOP')
        end(delay(stopMs).then(() => place.service().signal('SIGCONT')))
        return 'forward'
      }
    })
  }
  const client = succeed(run, place.service, () => over.promise)
  // Another process serves while the first one is stopped.
  const other = fault === 'stop' ? hit.promise.then(() => succeedElsewhere(place, run)) : undefined
  other?.catch(() => {})
  const outcome = await client
  await place.finished()
  if (!isHit) {
    station.interceptor = forwarding
    return undefined
  }
  await over.promise
  const elsewhere = await other
  await place.finished()
  station.interceptor = forwarding

  const problems = [...outcome.problems, ...(elsewhere?.problems ?? []), ...(await run.problems(place.service(), outcome.result))]
  const isSame = elsewhere === undefined || isToken(outcome.result) || JSON.stringify(elsewhere.result) === JSON.stringify(outcome.result)
  if (!isSame) problems.push(`two results: ${JSON.stringify(outcome.result)} and ${JSON.stringify(elsewhere?.result)}`)
  problems.push(...(await place.leftovers()))
  if (!place.service().isRunning()) problems.push('the process ended')
  const { lines, stderr } = place.service().takeErrors()
  if (stderr !== '') problems.push(`standard error: ${stderr}`)
  const loggedErrors = lines.map(({ msg, err }) => `${msg}: ${err?.code ?? ''} ${err?.message ?? ''}`)
  for (const { msg = '', err } of lines) {
    const isOutage = outages.test(msg) && (err?.statusCode ?? 503) >= 500 && !mistakes.has(err?.type ?? '')
    if (!isOutage) problems.push(`logged as an error: ${msg} ${JSON.stringify(err)}`)
  }
  return { problems, codes: [...outcome.codes, ...(elsewhere?.codes ?? [])], loggedErrors }
}

// What an outage may log. Anything else is about a client, or a mistake of the service.
const outages =
  /^(database|queue|redis|request failed|health: the store is not available|audit-trail: records cannot be stored|idempotency: a response was not stored yet|rate-limiting: the store fails|webhooks: )/
const mistakes = new Set(['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError', 'AssertionError'])

const isToken = (result: unknown) => result === 'signed out' || (result as { accessToken?: string }).accessToken !== undefined

async function succeedElsewhere(place: Workplace, run: Run) {
  const service = await place.station.start('direct')
  const outcome = await succeed(
    run,
    () => service,
    async () => {}
  )
  await place.finished()
  await service.kill()
  return outcome
}

// Which round trips occur depends on chance too: on the use of a pool, and on which responses are counted for their client.
async function repeated(place: Workplace, one: Case) {
  for (let runs = 0; runs < maxRuns; runs += 1) {
    const ran = await runCase(place, one)
    if (ran !== undefined) return ran
  }
  throw new Error(`The round trip did not occur in ${maxRuns} runs.`)
}

function casesOf(recorded: ReadonlyMap<Operation, readonly Target[]>): Case[] {
  const stopped = new Set<string>()
  const cases = [...recorded].flatMap(([operation, targets]) =>
    targets.flatMap((target) =>
      faults.flatMap((fault): Case[] => {
        // Once for each kind.
        if (fault === 'stop' && stopped.has(kindOf(target))) return []
        if (fault === 'stop') stopped.add(kindOf(target))
        return [{ operation, target, fault }]
      })
    )
  )
  const only = process.env['FAULTS'] === undefined ? undefined : new RegExp(process.env['FAULTS'])
  return cases.filter((one) => only?.test(titleOf(one)) ?? true)
}

function titleOf({ operation, target, fault }: Case) {
  return `${operation.name}, ${fault}: ${target.server} ${target.label} #${target.occurrence}`
}

// Servers of its own: the processes of all stations have more connections than other tests could spare. The long tier runs this file a second
// time without a server, where the example uses PGlite and has no round trips.
const [postgres, redis] = server === undefined ? [] : await Promise.all([ownPostgres(), ownRedis()])
t.teardown(() => Promise.all([postgres?.stop(), redis?.stop()]))
if (postgres === undefined || redis === undefined)
  t.plan(0, 'set TEST_DATABASE_URL to the address of a PostgreSQL server, and install PostgreSQL and Redis')
else
  t.test('a fault at any round trip loses and doubles nothing, and a retry with the same key succeeds', async (t) => {
    await administer(postgres.url, 'ALTER SYSTEM SET max_connections = 500')
    await postgres.restart()
    const servers = { postgres: postgres.url, redis: redis.url }
    const first = await Workplace.open(t, servers, 0)
    const idle = await recordIdle(first)
    const recorded = new Map<Operation, Target[]>()
    for (const operation of operations) {
      // The deliveries of a batch are those of single orders.
      const deliveries = operation.name.endsWith('batch')
        ? recorded
            .get(operations[0] as Operation)
            ?.filter(isOfQueue)
            .map(keyOf)
        : []
      recorded.set(operation, await record(first, operation, idle, new Set(deliveries)))
    }
    for (const [operation, targets] of recorded) {
      t.ok(targets.length > 0, `${operation.name}: ${targets.length} round trips`)
      for (const { server: name, label, occurrence } of targets) t.comment(`  ${name} ${label} #${occurrence}`)
    }
    const waiting = casesOf(recorded)
    t.comment(`${waiting.length} runs`)
    const all: Ran[] = []
    const others = await Promise.all(
      Array.from({ length: Math.min(stations, waiting.length) - 1 }, (_, index) => Workplace.open(t, servers, index + 1))
    )
    await Promise.all([first, ...others].map(work))
    for (const line of summary(all)) t.comment(line)

    async function work(place: Workplace) {
      for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
        const since = performance.now()
        const ran = await repeated(place, one).catch((error: unknown) => ({ problems: [String(error)], codes: [], loggedErrors: [] }))
        const seconds = (performance.now() - since) / 1000
        all.push({ ...one, ...ran, seconds })
        t.strictSame(ran.problems, [], titleOf(one))
        t.comment(`    ${seconds.toFixed(1)} s; ${ran.codes.join(', ')}; ${[...new Set(ran.loggedErrors)].join(' | ')}`)
        if (ran.problems.length === 0) continue
        place.station.interceptor = forwarding
        await place.replaceService()
      }
    }
  })

function summary(all: readonly Ran[]): string[] {
  const lines = new Map<string, string>()
  for (const { operation, target, fault } of all) {
    const same = all.filter((one) => one.operation === operation && one.target.server === target.server && one.fault === fault)
    const failed = same.filter(({ problems }) => problems.length > 0).length
    const codes = [...new Set(same.flatMap((one) => one.codes))]
    const slowest = Math.max(...same.map(({ seconds }) => seconds))
    const kinds = new Set(same.map((one) => kindOf(one.target))).size
    const columns = [operation.name.padEnd(20), target.server.padEnd(10), fault.padEnd(10), `${same.length} runs`.padStart(8)]
    const results = `${kinds} kinds, ${failed} failed, at most ${slowest.toFixed(0)} s, ${codes.join(', ') || 'no error'}`
    lines.set(`${operation.name} ${target.server} ${fault}`, `${columns.join(' ')}, ${results}`)
  }
  return [...lines.values()].toSorted()
}
