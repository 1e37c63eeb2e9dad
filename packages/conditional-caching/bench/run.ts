// node --conditions=@concordat/source packages/conditional-caching/bench/run.ts [rounds] [seconds]
// Processor time per request of each work against another, in one interleaved run.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'

const rounds = Number(process.argv[2] ?? 5)
const seconds = Number(process.argv[3] ?? 2)

interface Work {
  readonly name: string
  readonly server: 'bare' | 'caching' | 'untagged'
  readonly path: string
  readonly status: 200 | 304
  /** What its speed is compared with. */
  readonly against?: string
  readonly microseconds: number[]
}

const work = (name: string, server: Work['server'], path: string, status: Work['status'], against?: string): Work => ({
  name,
  server,
  path,
  status,
  ...(against && { against }),
  microseconds: []
})
const works = [
  work('item, bare', 'bare', '/products/1', 200),
  work('item, tagged by content', 'caching', '/products/1', 200, 'item, bare'),
  work('item, tagged by version', 'caching', '/versioned/products/1', 200, 'item, bare'),
  work('item, 304 by content', 'caching', '/products/1', 304, 'item, bare'),
  work('item, 304 by version', 'caching', '/versioned/products/1', 304, 'item, bare'),
  work('item, 304 by version, async', 'caching', '/versioned/later/1', 304, 'item, bare'),
  work('page of 50, bare', 'bare', '/pages/1', 200),
  work('page of 50, tagged by content', 'caching', '/pages/1', 200, 'page of 50, bare'),
  work('page of 50, 304 by content', 'caching', '/pages/1', 304, 'page of 50, bare'),
  work('page of 50, 304 by version', 'caching', '/versioned/pages/1', 304, 'page of 50, bare'),
  work('20 KB, bare', 'bare', '/large/1', 200),
  work('20 KB, without a tag', 'untagged', '/large/1', 200, '20 KB, bare'),
  work('20 KB, tagged by content', 'caching', '/large/1', 200, '20 KB, without a tag')
]

const servers = new Map(await Promise.all(['bare', 'caching', 'untagged'].map(start)))
const headersOf = new Map(await Promise.all(works.map(async (work) => [work, await headersFor(work)] as const)))
for (const work of works) await measure(work, 1)
for (let round = 0; round < rounds; round += 1) {
  for (const work of works) work.microseconds.push(await measure(work, seconds))
}
console.log(`${rounds} interleaved rounds of ${seconds} s; processor time per request, median (least); speed against another work, by both`)
for (const { name, microseconds, against } of works) {
  const other = works.find((work) => work.name === against)
  const times = `${median(microseconds).toFixed(1).padStart(6)} (${Math.min(...microseconds).toFixed(1)}) µs`
  // Paired by round: what slows the machine for a while slows both. On a busy machine the least says more.
  const ratio = other && median(microseconds.map((value, round) => (other.microseconds[round] as number) / value))
  const least = other && Math.min(...other.microseconds) / Math.min(...microseconds)
  console.log(`${name.padEnd(32)} ${times}  ${ratio && least ? `${ratio.toFixed(2)} (${least.toFixed(2)}) of ${against}` : ''}`)
}
for (const { child } of servers.values()) child.disconnect()

async function start(kind: string) {
  const child = fork(fileURLToPath(new URL('server.ts', import.meta.url)), [kind], { execArgv: ['--conditions=@concordat/source'] })
  const [address] = await once(child, 'message')
  return [kind, { child, address: String(address) }] as const
}

function serverOf({ server }: Work) {
  return servers.get(server) as { child: ChildProcess; address: string }
}

// What is timed must first be right.
async function headersFor(work: Work): Promise<Record<string, string>> {
  const url = serverOf(work).address + work.path
  const first = await fetch(url)
  const etag = first.headers.get('etag')
  if (first.status !== 200 || (etag === null) === (work.server === 'caching'))
    throw new Error(`${work.name} answers ${first.status}, ${etag}`)
  if (work.status === 200) return {}
  const headers = { 'if-none-match': String(etag) }
  const again = await fetch(url, { headers })
  if (again.status !== 304) throw new Error(`${work.name} answers ${again.status}`)
  return headers
}

async function measure(work: Work, duration: number): Promise<number> {
  const { child, address } = serverOf(work)
  const before = await processorTime(child)
  const headers = headersOf.get(work) ?? {}
  const result = await autocannon({ url: address + work.path, headers, connections: 20, pipelining: 1, duration })
  const after = await processorTime(child)
  const wrong = work.status === 304 ? result['2xx'] : result.non2xx
  if (wrong > 0 || result.errors > 0) throw new Error(`${work.name} failed ${wrong + result.errors} requests`)
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
