// node --conditions=@concordat/source packages/authentication/bench/verification.ts [rounds] [seconds]
// Processor time per item GET, with each way to be known, against a bare Fastify that is sent the same, in one interleaved run.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'

const rounds = Number(process.argv[2] ?? 5)
const seconds = Number(process.argv[3] ?? 1)
const algorithms = ['HS256', 'RS256', 'ES256', 'EdDSA']
const kinds = ['bare', 'public', ...algorithms, 'API key', ...algorithms.map((name) => `${name} each time`)]

interface Server {
  readonly kind: string
  readonly child: ChildProcess
  readonly target: { readonly url: string; readonly headers: Record<string, string> }
  readonly microseconds: number[]
}

const servers = await Promise.all(kinds.map(start))
for (const server of servers) await measure(server, 1)
for (let round = 0; round < rounds; round += 1) {
  for (const server of servers) server.microseconds.push(await measure(server, seconds))
  process.stderr.write(`round ${round + 1} of ${rounds}\n`)
}
const base = servers[0] as Server
console.log(`item GET, ${rounds} interleaved rounds of ${seconds} s; processor time per request, median (least–most); speed against bare`)
for (const { kind, microseconds } of servers) {
  // Paired by round: what slows the machine for a while slows both.
  const ratio = median(microseconds.map((value, round) => (base.microseconds[round] as number) / value))
  const range = `${Math.min(...microseconds).toFixed(1)}–${Math.max(...microseconds).toFixed(1)}`
  console.log(`${kind.padEnd(18)} ${median(microseconds).toFixed(1)} µs (${range})  ${ratio.toFixed(2)}`)
}
for (const { child } of servers) child.removeAllListeners('exit').disconnect()

async function start(kind: string): Promise<Server> {
  const child = fork(fileURLToPath(new URL('server.ts', import.meta.url)), [kind], { execArgv: ['--conditions=@concordat/source'] })
  child.once('exit', () => process.exit(1))
  const [target] = (await once(child, 'message')) as [Server['target']]
  return { kind, child, target, microseconds: [] }
}

async function measure({ child, target }: Server, duration: number): Promise<number> {
  const before = await processorTime(child)
  const result = await autocannon({ ...target, connections: 20, pipelining: 4, duration })
  const after = await processorTime(child)
  // What is timed must be right.
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${target.url} failed ${result.non2xx + result.errors} requests`)
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
