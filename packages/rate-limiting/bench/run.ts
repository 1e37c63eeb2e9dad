// node --conditions=@concordat/source packages/rate-limiting/bench/run.ts [rounds] [seconds]
// Processor time per request of each server against the bare one, in one interleaved run.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'

const rounds = Number(process.argv[2] ?? 5)
const seconds = Number(process.argv[3] ?? 2)
const kinds = ['bare', 'address', 'address-and-client', 'overload', 'official']
const servers = await Promise.all(kinds.map(start))
for (const server of servers) await measure(server, 1)
for (let round = 0; round < rounds; round += 1) {
  for (const server of servers) server.microseconds.push(await measure(server, seconds))
}
console.log(`small GET, ${rounds} interleaved rounds of ${seconds} s; processor time per request, median; speed against bare`)
for (const { kind, microseconds } of servers) {
  // Paired by round: what slows the machine for a while slows both.
  const ratio = median(microseconds.map((value, round) => (servers[0]?.microseconds[round] as number) / value))
  console.log(`${kind.padEnd(20)} ${median(microseconds).toFixed(1)} µs  ${ratio.toFixed(2)}`)
}
for (const { child } of servers) child.disconnect()

interface Server {
  readonly kind: string
  readonly child: ChildProcess
  readonly address: string
  readonly microseconds: number[]
}

async function start(kind: string): Promise<Server> {
  const child = fork(fileURLToPath(new URL('server.ts', import.meta.url)), [kind], { execArgv: ['--conditions=@concordat/source'] })
  const [address] = await once(child, 'message')
  return { kind, child, address: String(address), microseconds: [] }
}

async function measure({ child, address }: Server, duration: number): Promise<number> {
  const before = await processorTime(child)
  const result = await autocannon({ url: `${address}/products/1`, connections: 20, pipelining: 1, duration })
  const after = await processorTime(child)
  // What is timed must be right.
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${address} failed ${result.non2xx + result.errors} requests`)
  return (after - before) / result.requests.total
}

async function processorTime(child: ChildProcess): Promise<number> {
  child.send('time')
  const [usage] = (await once(child, 'message')) as [NodeJS.CpuUsage]
  return usage.user + usage.system
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] as number
}
