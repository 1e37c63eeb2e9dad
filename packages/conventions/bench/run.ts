// pnpm bench [rounds] [seconds]: processor time per request of each server against the first, in one interleaved run.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import { item } from './item.ts'

const rounds = Number(process.argv[2] ?? 5)
const seconds = Number(process.argv[3] ?? 2)
const path = `/v1/products/${item.id}`
const baseline = 'bare'
const kinds = [
  baseline,
  'preset',
  'bare-logged',
  'preset-logged',
  'without-transport-security',
  'without-error-catalogue',
  'without-versioning',
  'without-http-methods',
  'without-content-negotiation',
  'without-envelope',
  'without-handler-timeout'
]

interface Server {
  readonly kind: string
  readonly child: ChildProcess
  readonly address: string
  readonly microseconds: number[]
}

const servers = await Promise.all(kinds.map(start))
for (const server of servers) await requireAnswer(server)
for (const server of servers) await measure(server, 1)
for (let round = 0; round < rounds; round += 1) {
  for (const server of servers) server.microseconds.push(await measure(server, seconds))
  process.stderr.write(`round ${round + 1} of ${rounds}\n`)
}
const base = servers[0] as Server
console.log(
  `item GET, ${rounds} interleaved rounds of ${seconds} s; processor time per request, median (least–most); speed against ${baseline}`
)
for (const { kind, microseconds } of servers) {
  // Paired by round: what slows the machine for a while slows both.
  const ratio = median(microseconds.map((value, round) => (base.microseconds[round] as number) / value))
  console.log(
    `${kind.padEnd(28)} ${median(microseconds).toFixed(1)} µs (${Math.min(...microseconds).toFixed(1)}–${Math.max(...microseconds).toFixed(1)})  ${ratio.toFixed(2)}`
  )
}
for (const { child } of servers) child.removeAllListeners('exit').disconnect()

async function start(kind: string): Promise<Server> {
  const child = fork(fileURLToPath(new URL('server.ts', import.meta.url)), [kind], { execArgv: ['--conditions=@concordat/source'] })
  child.once('exit', () => process.exit(1))
  const [address] = await once(child, 'message')
  return { kind, child, address: String(address), microseconds: [] }
}

// What is timed must first be right.
async function requireAnswer({ kind, address }: Server) {
  const answer = await fetch(address + path)
  const body = (await answer.json()) as Record<string, unknown>
  const bare = kind.startsWith('bare') || kind === 'without-envelope'
  const resource = bare ? body : body['data']
  if (answer.status !== 200 || JSON.stringify(resource) !== JSON.stringify(item))
    throw new Error(`${kind} answers wrongly: ${JSON.stringify(body)}`)
}

async function measure({ child, address }: Server, duration: number): Promise<number> {
  const before = await processorTime(child)
  const result = await autocannon({ url: address + path, connections: 20, pipelining: 4, duration })
  const after = await processorTime(child)
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${address} failed ${result.non2xx + result.errors} requests`)
  return (after - before) / result.requests.total
}

async function processorTime(child: ChildProcess): Promise<number> {
  child.send('time')
  const [usage] = (await once(child, 'message')) as [NodeJS.CpuUsage]
  return usage.user + usage.system
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}
