// pnpm bench [rounds] [seconds]: processor time per request of each server against the first, in one interleaved run.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { ownTokens } from '@concordat/authentication'
import autocannon from 'autocannon'
import { item, list } from './item.ts'
import { tokenOptions } from './token.ts'

const rounds = Number(process.argv[2] ?? 5)
const seconds = Number(process.argv[3] ?? 2)
const works = [
  { name: 'item GET', path: `/v1/products/${item.id}`, resource: item },
  { name: 'collection of 50', path: '/v1/products', resource: list }
]
// Everybody is sent the same, also who does not look at it.
const headers = { authorization: `Bearer ${await ownTokens(tokenOptions).sign({ sub: 'ada', scope: 'products:read' })}` }
const baseline = 'bare'
const kinds = [
  baseline,
  'alike',
  'preset',
  'bare-logged',
  'preset-logged',
  'without-transport-security',
  'without-error-catalogue',
  'without-versioning',
  'without-http-methods',
  'without-content-negotiation',
  'without-envelope',
  'without-rate-limiting',
  'without-authentication',
  'with-fastify-timeout'
]

interface Server {
  readonly kind: string
  readonly child: ChildProcess
  readonly address: string
}

const servers = await Promise.all(kinds.map(start))
for (const work of works) {
  const microseconds = new Map<string, number[]>(kinds.map((kind) => [kind, []]))
  for (const server of servers) {
    await requireAnswer(server, work)
    await measure(server, work.path, 1)
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const server of servers) microseconds.get(server.kind)?.push(await measure(server, work.path, seconds))
    process.stderr.write(`${work.name}: round ${round + 1} of ${rounds}\n`)
  }
  report(work.name, microseconds)
}
for (const { child } of servers) child.removeAllListeners('exit').disconnect()

function report(work: string, microseconds: ReadonlyMap<string, readonly number[]>) {
  const base = microseconds.get(baseline) as readonly number[]
  console.log(
    `${work}, ${rounds} interleaved rounds of ${seconds} s; processor time per request, median (least–most); speed against ${baseline}, median and by the least`
  )
  for (const [kind, values] of microseconds) {
    // Paired by round: what slows the machine for a while slows both.
    const ratio = median(values.map((value, round) => (base[round] as number) / value))
    const least = Math.min(...base) / Math.min(...values)
    console.log(
      `${kind.padEnd(28)} ${median(values).toFixed(1)} µs (${Math.min(...values).toFixed(1)}–${Math.max(...values).toFixed(1)})  ${ratio.toFixed(2)}  ${least.toFixed(2)}`
    )
  }
}

async function start(kind: string): Promise<Server> {
  const child = fork(fileURLToPath(new URL('server.ts', import.meta.url)), [kind], { execArgv: ['--conditions=@concordat/source'] })
  child.once('exit', () => process.exit(1))
  const [address] = await once(child, 'message')
  return { kind, child, address: String(address) }
}

// What is timed must first be right.
async function requireAnswer({ kind, address }: Server, { path, resource }: (typeof works)[number]) {
  const answer = await fetch(address + path, { headers })
  const body = (await answer.json()) as Record<string, unknown>
  const bare = kind.startsWith('bare') || kind === 'without-envelope'
  const sent = bare ? body : body['data']
  if (answer.status !== 200 || JSON.stringify(sent) !== JSON.stringify(resource))
    throw new Error(`${kind} answers wrongly: ${JSON.stringify(body)}`)
}

async function measure({ child, address }: Server, path: string, duration: number): Promise<number> {
  const before = await processorTime(child)
  const result = await autocannon({ url: address + path, headers, connections: 20, pipelining: 4, duration })
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
