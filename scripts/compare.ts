// pnpm bench [package] [rounds] [seconds]: the processor time that requests cost servers, in one interleaved run.
// What is compared stands in the package's bench/works.ts, the servers in its bench/server.ts. Each round starts the servers anew, since
// one start can be luckier than another by a tenth, and asks them in turn for half a second, since what slows the machine comes and goes.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import autocannon from 'autocannon'
import { repository } from './workspace.ts'

/** How to send requests for so many seconds: for autocannon, or a function that says how many it sent. */
type Load = Partial<autocannon.Options> | ((seconds: number) => Promise<number>)

interface Work {
  readonly name: string
  /** What its server is started with; works with the same words share one. */
  readonly server: readonly string[]
  /** The work that its cost is divided by. */
  readonly against?: string
  /** The status that every answer must have, unless it is 200. */
  readonly status?: number
  /** Asked in each round, to look at the answer before it is timed. `headers` are those that the server told. */
  readonly load: (address: string, headers: Record<string, string>) => Load | Promise<Load>
}

interface Runner {
  readonly work: Work
  readonly child: ChildProcess
  readonly address: string
  readonly load: Load
  microseconds: number
  requests: number
}

const [name = 'conventions', rounds = '5', seconds = '2'] = process.argv.slice(2)
const folder = join(repository, 'packages', name, 'bench')
const { works } = (await import(pathToFileURL(join(folder, 'works.ts')).href)) as { works: readonly Work[] }
const slices = Math.max(1, Math.round(Number(seconds) * 2))
const costs = new Map<string, number[]>(works.map((work) => [work.name, []]))

for (let round = 1; round <= Number(rounds); round += 1) {
  const runners = await start()
  // Until V8 has compiled what is hot: with less, that is up to 7 % of what is measured.
  for (const runner of runners) await measure(runner, 2)
  for (const runner of runners) await ask(runner.child, 'collect')
  for (const runner of runners) await measure(runner, 3)
  for (const runner of runners) runner.microseconds = runner.requests = 0
  for (let slice = 0; slice < slices; slice += 1) {
    for (const runner of slice % 2 === 0 ? runners : runners.toReversed()) await measure(runner, 0.5)
  }
  for (const { work, microseconds, requests } of runners) costs.get(work.name)?.push(microseconds / requests)
  await stop(runners)
  process.stderr.write(`round ${round} of ${rounds}\n`)
}
report()

async function start(): Promise<Runner[]> {
  const words = new Map(works.map(({ server }) => [server.join(' '), server]))
  const servers = new Map(await Promise.all([...words].map(async ([key, server]) => [key, await launch(server)] as const)))
  return Promise.all(
    works.map(async (work) => {
      const { child, address, headers } = servers.get(work.server.join(' ')) as Awaited<ReturnType<typeof launch>>
      return { work, child, address, load: await work.load(address, headers), microseconds: 0, requests: 0 }
    })
  )
}

async function launch(server: readonly string[]) {
  const program = fileURLToPath(new URL('compared-server.ts', import.meta.url))
  const child = fork(program, [join(folder, 'server.ts'), ...server], { execArgv: ['--conditions=@concordat/source', '--expose-gc'] })
  child.once('exit', () => process.exit(1))
  const [told] = (await once(child, 'message')) as [{ address: string; headers: Record<string, string> }]
  return { child, ...told }
}

async function stop(runners: readonly Runner[]) {
  for (const child of new Set(runners.map((runner) => runner.child))) {
    child.removeAllListeners('exit').disconnect()
    await once(child, 'exit')
  }
}

async function measure(runner: Runner, duration: number) {
  const before = await processorTime(runner.child)
  runner.requests += await send(runner, duration)
  runner.microseconds += (await processorTime(runner.child)) - before
}

async function send({ work, address, load }: Runner, duration: number) {
  if (typeof load === 'function') return load(duration)
  // Who waits has to be woken by the server's writes, and only a slow server lets its clients wait: so nobody sleeps.
  let isSending = true
  const stayAwake = () => void (isSending && setImmediate(stayAwake))
  stayAwake()
  // It stops at the end of a sample.
  const result = await autocannon({ url: address, connections: 20, ...load, duration, sampleInt: 100 })
  isSending = false
  const right = result.statusCodeStats?.[`${work.status ?? 200}`]?.count ?? 0
  if (right < result.requests.total || right === 0 || result.errors > 0)
    throw new Error(`${work.name} failed ${result.requests.total - right + result.errors} of ${result.requests.total} requests`)
  return right
}

async function processorTime(child: ChildProcess): Promise<number> {
  const { user, system } = await ask(child, 'time')
  return user + system
}

async function ask(child: ChildProcess, what: 'collect' | 'time'): Promise<NodeJS.CpuUsage> {
  child.send(what)
  const [usage] = (await once(child, 'message')) as [NodeJS.CpuUsage]
  return usage
}

function report() {
  console.log(
    `${name}: ${rounds} rounds of ${slices} × 0.5 s; µs of processor per request, least–median; cost and speed by another work, quartiles`
  )
  for (const { name, against } of works) {
    const own = costs.get(name) as number[]
    const times = `${quantile(own, 0).toFixed(1).padStart(6)}–${quantile(own, 0.5).toFixed(1).padEnd(6)}`
    // Paired by round: what slows the machine for a while slows both.
    const ratios = costs.get(against ?? '')?.map((other, round) => (own[round] as number) / other)
    console.log(`${name.padEnd(32)} ${times} ${ratios ? compared(ratios, String(against)) : ''}`)
  }
}

function compared(ratios: readonly number[], against: string) {
  const [lower, middle, upper] = [0.25, 0.5, 0.75].map((part) => quantile(ratios, part)) as [number, number, number]
  const cost = `cost ${middle.toFixed(2)} (${lower.toFixed(2)}–${upper.toFixed(2)})`
  return `${cost}  speed ${(1 / middle).toFixed(2)} (${(1 / upper).toFixed(2)}–${(1 / lower).toFixed(2)}) of ${against}`
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const at = part * (sorted.length - 1)
  const [below, above] = [sorted[Math.floor(at)] as number, sorted[Math.ceil(at)] as number]
  return below + (above - below) * (at - Math.floor(at))
}
