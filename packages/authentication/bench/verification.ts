// node --conditions=@concordat/source packages/authentication/bench/verification.ts [rounds] [seconds]
// Processor time per item GET, in one interleaved run. Each credential is sent to a bare Fastify, to a public route of the plugin, to one
// that remembers it and, tokens, to one that verifies it each time: a longer token costs every server more.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'

const rounds = Number(process.argv[2] ?? 5)
const seconds = Number(process.argv[3] ?? 1)
const algorithms = ['HS256', 'RS256', 'ES256', 'EdDSA']
const ways = ['bare', 'public', 'remembered', 'verified']
const kinds = [...algorithms, 'API key'].flatMap((credential) =>
  ways.filter((way) => way !== 'verified' || credential !== 'API key').map((way) => ({ way, credential }))
)

interface Server {
  readonly way: string
  readonly credential: string
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
console.log(
  `item GET, ${rounds} interleaved rounds of ${seconds} s; processor time per request, median (least); more than bare, median (by the least)`
)
for (const { way, credential, microseconds } of servers) {
  const bare = servers.find((server) => server.way === 'bare' && server.credential === credential)?.microseconds as number[]
  // Paired by round: what slows the machine for a while slows both.
  const more = median(microseconds.map((value, round) => value / (bare[round] as number) - 1))
  const leastMore = Math.min(...microseconds) / Math.min(...bare) - 1
  console.log(
    `${`${credential} ${way}`.padEnd(20)} ${median(microseconds).toFixed(1)} µs (${Math.min(...microseconds).toFixed(1)})  ${percent(more)} (${percent(leastMore)})`
  )
}
for (const { child } of servers) child.removeAllListeners('exit').disconnect()

async function start({ way, credential }: (typeof kinds)[number]): Promise<Server> {
  const child = fork(fileURLToPath(new URL('server.ts', import.meta.url)), [way, credential], {
    execArgv: ['--conditions=@concordat/source']
  })
  child.once('exit', () => process.exit(1))
  const [target] = (await once(child, 'message')) as [Server['target']]
  return { way, credential, child, target, microseconds: [] }
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

function percent(part: number) {
  return `${(100 * part).toFixed(0)} %`
}
