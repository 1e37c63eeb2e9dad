// node --conditions=@concordat/source packages/idempotency/bench/run.ts [rounds] [seconds]
// Processor time per request of a POST with validation, with new keys and with replays, against the bare one, in one interleaved run.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'

const rounds = Number(process.argv[2] ?? 5)
const seconds = Number(process.argv[3] ?? 2)
const body = JSON.stringify({ customer: 'ada', note: 'By the door.', lines: [1, 2, 3].map((n) => ({ product: `tea-${n}`, quantity: n })) })
let keys = 0
// A new object each time: autocannon keeps the one that it is given.
const freshKey = () => `"${String((keys += 1)).padStart(36, '0')}"`
const sameKey = () => `"${String(keys++ % 1000).padStart(36, 'x')}"`

const servers = await Promise.all([start('bare', freshKey, false), start('new key', freshKey, false), start('replay', sameKey, true)])
for (const server of servers) await measure(server, 1)
for (let round = 0; round < rounds; round += 1) {
  for (const server of servers) server.microseconds.push(await measure(server, seconds))
}
console.log(`POST with validation, ${rounds} interleaved rounds of ${seconds} s; processor time per request, median; speed against bare`)
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
  readonly key: () => string
  readonly microseconds: number[]
}

async function start(kind: string, key: () => string, isReplay: boolean): Promise<Server> {
  const child = fork(fileURLToPath(new URL('server.ts', import.meta.url)), [kind], { execArgv: ['--conditions=@concordat/source'] })
  const [address] = (await once(child, 'message')) as [string]
  // What is timed must be right.
  const [first, retry] = [await ask(address, `"${kind}"`), await ask(address, `"${kind}"`)]
  const expected = kind === 'bare' ? null : 'true'
  if (first.status !== 201 || retry.headers.get('idempotency-replayed') !== expected)
    throw new Error(`${kind} does not do what it is timed for`)
  if (isReplay) for (let n = 0; n < 1000; n += 1) await ask(address, key())
  return { kind, child, address, key, microseconds: [] }
}

function ask(address: string, key: string) {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key }
  return fetch(`${address}/orders`, { method: 'POST', headers, body })
}

async function measure({ child, address, key, kind }: Server, duration: number): Promise<number> {
  const before = await processorTime(child)
  const result = await autocannon({
    url: `${address}/orders`,
    method: 'POST',
    body,
    connections: 20,
    pipelining: 1,
    duration,
    requests: [
      {
        setupRequest: (request) => ({ ...request, headers: { 'content-type': 'application/json', 'idempotency-key': key() } })
      }
    ]
  })
  const after = await processorTime(child)
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${kind} failed ${result.non2xx + result.errors} requests`)
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
