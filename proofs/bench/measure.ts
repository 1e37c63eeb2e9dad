// Starts servers and measures the processor time that requests cost them. Each round restarts the servers, because start-ups differ by up
// to a tenth, and measures the cells in turn, because the load of the machine varies. A number of requests is sent and not a number of
// seconds, so that V8 has compiled as much on a busy machine as on an idle one.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import { password, username } from './resources.ts'
import type { Call, Row, Server } from './rows.ts'

/** A request to a server. `servers` is how many processes share the requests. */
export interface Cell {
  readonly row: Row
  readonly peer: string
  readonly server: Server
  readonly processes?: number
}

/** The processor time of a request in each round, in microseconds, by cell. */
export type Costs = ReadonlyMap<Cell, readonly number[]>

export interface Measured {
  readonly costs: Costs
  /** That of PostgreSQL, where it runs on this machine, for the rows that use it. */
  readonly databaseCosts: Costs
}

export interface Usage {
  readonly user: number
  readonly system: number
  readonly heap: number
  readonly rss: number
}

export interface Running {
  readonly child: ChildProcess
  readonly address: string
  readonly headers: Record<string, string>
  /** The processor time until it listened, in milliseconds. */
  readonly startMs: number
}

/** Measures every cell in each round. */
export async function measure(cells: readonly Cell[], rounds: number): Promise<Measured> {
  const costs = new Map<Cell, number[]>(cells.map((cell) => [cell, []]))
  const databaseCosts = new Map<Cell, number[]>()
  for (let round = 1; round <= rounds; round += 1) {
    const running = await launchAll(cells)
    const loads = new Map<Cell, Load>()
    for (const cell of cells) loads.set(cell, await loadOf(cell, running.get(keyOf(cell)) as Running[]))
    // Without a plugin, a response is another.
    if (round === 1)
      await compare(
        cells.filter(({ row }) => row.name !== 'parts'),
        running
      )
    for (const [cell, load] of loads) await send(cell, load)
    for (const servers of running.values()) await Promise.all(servers.map(({ child }) => ask(child, 'collect')))
    for (const [cell, load] of round % 2 === 0 ? [...loads].toReversed() : loads) {
      // After the collection, V8 compiles much of the code again.
      await send(cell, load, cell.row.warmUp ?? warmUp)
      const databaseBefore = databaseTime()
      costs.get(cell)?.push(await cost(cell, load))
      const database = databaseTime() - databaseBefore
      if (cell.row.isOnPostgres && database > 0)
        databaseCosts.set(cell, [...(databaseCosts.get(cell) ?? []), database / amountOf(cell.row)])
    }
    await Promise.all([...running.values()].flat().map(stop))
    process.stderr.write(`round ${round} of ${rounds}: ${cells.length} measurements\n`)
  }
  return { costs, databaseCosts }
}

// V8 has compiled the code of the peers after 18,000 requests, and that of the suite after 30,000.
const warmUp = 30_000
// What a second of processor time is in /proc, on Linux.
const ticksPerSecond = 100

/** Returns the processor time of all PostgreSQL processes on this machine in microseconds, or 0 where the system does not tell. */
function databaseTime() {
  if (!existsSync('/proc/self/stat')) return 0
  let ticks = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      // The name in parentheses may contain spaces. User and system time are the fields 14 and 15.
      const [, name, fields = ''] = /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
      if (name === 'postgres')
        ticks += fields
          .split(' ')
          .slice(11, 13)
          .reduce((sum, field) => sum + Number(field), 0)
    } catch {
      // It has ended.
    }
  }
  return (ticks / ticksPerSecond) * 1e6
}

const keyOf = ({ row, server, processes = 1 }: Cell) => JSON.stringify({ server, group: row.group, processes })

async function launchAll(cells: readonly Cell[]) {
  const running = new Map<string, Running[]>()
  for (const cell of cells) {
    const key = keyOf(cell)
    // One after another: what a start costs is measured.
    if (!running.has(key)) {
      const servers: Running[] = []
      for (let process = 0; process < (cell.processes ?? 1); process += 1) servers.push(await launch(cell.server))
      running.set(key, servers)
    }
  }
  return running
}

export async function launch({ file, options = {} }: Server, environment = 'test', flags: readonly string[] = []): Promise<Running> {
  const program = fileURLToPath(new URL('server.ts', import.meta.url))
  const words = [fileURLToPath(new URL(file, import.meta.url)), JSON.stringify(options)]
  const child = fork(program, words, { execArgv: ['--expose-gc', ...flags], env: { ...process.env, NODE_ENV: environment } })
  child.once('exit', (code) => {
    console.error(`The server ${words.join(' ')} ended with ${code}.`)
    process.exit(1)
  })
  const [{ address, headers, start }] = (await once(child, 'message')) as [
    { address: string; headers?: Record<string, string>; start: Usage }
  ]
  const startMs = (start.user + start.system) / 1000
  return { child, address, headers: headers ?? (await signIn(address)), startMs }
}

async function signIn(address: string) {
  const body = JSON.stringify({ username, password })
  const response = await fetch(`${address}/v1/tokens`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { data } = (await response.json()) as { data: { accessToken: string } }
  return { authorization: `Bearer ${data.accessToken}` }
}

export async function stop({ child }: Running): Promise<void> {
  child.removeAllListeners('exit').disconnect()
  await once(child, 'exit')
}

export async function ask(child: ChildProcess, message: 'collect' | 'time'): Promise<Usage> {
  child.send(message)
  const [usage] = (await once(child, 'message')) as [Usage]
  return usage
}

export interface Load {
  readonly servers: readonly Running[]
  readonly options: readonly autocannon.Options[]
}

function callOf({ address, headers }: Running): Call {
  return ({ path, method = 'GET', headers: more, body }) =>
    fetch(address + path, {
      method,
      headers: { 'accept-encoding': 'identity', ...headers, ...more },
      ...(body !== undefined && { body })
    })
}

export async function loadOf({ row }: Cell, servers: readonly Running[]): Promise<Load> {
  const connections = Math.ceil((row.connections ?? 20) / servers.length)
  const options: autocannon.Options[] = []
  for (const server of servers) {
    const { path, headers, key, ...request } = await row.request(callOf(server))
    options.push({
      url: server.address + path,
      connections,
      pipelining: row.isOnPostgres === true || row.connections !== undefined ? 1 : 4,
      headers: { ...server.headers, ...headers },
      timeout: 60,
      ...request,
      // A new object for each request, because autocannon retains the object it receives.
      ...(key && { requests: [{ setupRequest: (sent) => ({ ...sent, headers: { ...sent.headers, 'idempotency-key': key() } }) }] })
    })
  }
  return { servers, options }
}

/** Returns the processor time of a request in microseconds. */
async function cost(cell: Cell, load: Load): Promise<number> {
  const before = await processorTime(load)
  const requests = await send(cell, load)
  return ((await processorTime(load)) - before) / requests
}

async function processorTime({ servers }: Load) {
  const usages = await Promise.all(servers.map(({ child }) => ask(child, 'time')))
  return usages.reduce((sum, { user, system }) => sum + user + system, 0)
}

/** Returns how many requests of a row are measured. */
export const amountOf = ({ amount = 4000 }: Row): number => amount

/** Sends requests of a cell, and returns how many. Throws when a response does not have the status of the row. */
export async function send({ row, peer }: Cell, { options }: Load, amount: number = amountOf(row)): Promise<number> {
  // A process that waits must be woken by the writes of the server, and clients wait only for a slow server. So this process never sleeps.
  let isSending = true
  const stayAwake = () => void (isSending && setImmediate(stayAwake))
  stayAwake()
  const results = await Promise.all(options.map((one) => autocannon({ ...one, amount: Math.ceil(amount / options.length) })))
  isSending = false
  return results.reduce((sum, { requests, errors, statusCodeStats }) => {
    const right = statusCodeStats?.[`${row.status}`]?.count ?? 0
    if (right < requests.total || right === 0 || errors > 0)
      throw new Error(`${row.name} of ${peer}: ${requests.total} responses, ${errors} errors, statuses ${JSON.stringify(statusCodeStats)}`)
    return sum + right
  }, 0)
}

/** Compares the responses of the peers of each row: the status and the bytes of the body, and for the same code the header fields. */
async function compare(cells: readonly Cell[], running: ReadonlyMap<string, readonly Running[]>) {
  const responses = new Map<string, { status: number; body: string; names: string }>()
  for (const cell of cells.toSorted((one, other) => Number(other.peer === 'ours') - Number(one.peer === 'ours'))) {
    const { row, peer } = cell
    const [server] = running.get(keyOf(cell)) as [Running]
    const call = callOf(server)
    const { key, ...request } = await row.request(call)
    const response = await call({ ...request, headers: { ...request.headers, ...(key && { 'idempotency-key': key() }) } })
    const names = [...response.headers.keys()].filter((name) => name !== 'keep-alive' && name !== 'date').join(', ')
    const received = { status: response.status, body: withoutVolatile(await response.text()), names }
    const expected = responses.get(row.name) ?? received
    responses.set(row.name, expected)
    const isSame = received.status === row.status && received.body === expected.body && (peer !== 'same' || names === expected.names)
    if (isSame) continue
    const [one, other] = [JSON.stringify(received), JSON.stringify(expected)]
    const at = Math.max(0, one.split('').findIndex((character, index) => character !== other[index]) - 80)
    throw new Error(`${row.name}: ${peer} responds differently:\n…${one.slice(at, at + 400)}\n…${other.slice(at, at + 400)}`)
  }
}

/** Replaces what differs between two responses of one server: times, tokens, ids of new resources, and the header fields of parts of a batch. */
function withoutVolatile(body: string) {
  return body
    .replaceAll(/"(timestamp|accessToken|refreshToken)":"[^"]*"/g, '"$1":"…"')
    .replaceAll(/"headers":\{[^}]*\}/g, '"headers":{…}')
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/g, '…')
}
