// pnpm bench [package] [rounds] [seconds]: the processor time that requests cost servers, in one interleaved run.
// The package's bench/works.ts lists what is compared, and its bench/server.ts starts the servers. Each round restarts the servers,
// because start-ups differ by up to a tenth, and measures them in turn for half a second, because the load of the machine varies.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import autocannon from 'autocannon'
import { repository } from './workspace.ts'

/** How to send requests for a number of seconds: options of autocannon, or a function that returns how many it sent. */
type Load = Partial<autocannon.Options> | ((seconds: number) => Promise<number>)

interface Work {
  readonly name: string
  /** The arguments of its server. Works with the same arguments share a server. */
  readonly server: readonly string[]
  /** The work that its cost is divided by. */
  readonly against?: string
  /** The status that every response must have. @default 200 */
  readonly status?: number
  /** Called in each round to check the response before the measurement. `headers` are the headers that the server reported. */
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
  // Warms up until V8 has compiled the hot code. With a shorter warm-up, results differ by up to 7 %.
  for (const runner of runners) await measure(runner, 2)
  for (const runner of runners) await call(runner.child, 'collect')
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
  const [received] = (await once(child, 'message')) as [{ address: string; headers: Record<string, string> }]
  return { child, ...received }
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
  // A waiting process must be woken by the server's writes, and clients wait only for a slow server. So this process never sleeps.
  let isSending = true
  const stayAwake = () => void (isSending && setImmediate(stayAwake))
  stayAwake()
  // Autocannon stops at the end of a sample.
  const result = await autocannon({ url: address, connections: 20, ...load, duration, sampleInt: 100 })
  isSending = false
  const right = result.statusCodeStats?.[`${work.status ?? 200}`]?.count ?? 0
  if (right < result.requests.total || right === 0 || result.errors > 0)
    throw new Error(`${work.name} failed ${result.requests.total - right + result.errors} of ${result.requests.total} requests`)
  return right
}

async function processorTime(child: ChildProcess): Promise<number> {
  const { user, system } = await call(child, 'time')
  return user + system
}

async function call(child: ChildProcess, what: 'collect' | 'time'): Promise<NodeJS.CpuUsage> {
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
    // Ratios are computed per round, because load on the machine affects both works of a round.
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
