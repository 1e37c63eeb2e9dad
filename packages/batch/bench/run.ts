// node --conditions=@concordat/source packages/batch/bench/run.ts [rounds] [batches a round]
// Processor time of the server for 100 operations: as 100 requests on one kept-alive connection, as one batch, and as one request whose
// handler injects them, in one interleaved run.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { fileURLToPath } from 'node:url'

const rounds = Number(process.argv[2] ?? 9)
const batches = Number(process.argv[3] ?? 30)
const operationsPerBatch = 100

const child = fork(fileURLToPath(new URL('server.ts', import.meta.url)), { execArgv: ['--conditions=@concordat/source'] })
const [address] = (await once(child, 'message')) as [string]
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

const kinds = ['GET', 'PUT'].flatMap((method) => {
  const operations = Array.from({ length: operationsPerBatch }, (_, n) => ({
    id: String(n),
    method,
    path: `/products/${n}`,
    ...(method === 'PUT' && { body: { name: `Tea ${n}` } })
  }))
  const whole = JSON.stringify({ operations })
  const oneByOne = async () => {
    for (const { path, body } of operations) await ask(method, path, body && JSON.stringify(body))
  }
  return [
    { name: `${method}: requests`, run: oneByOne, microseconds: [] as number[] },
    { name: `${method}: batch`, run: () => ask('POST', '/product-batches', whole), microseconds: [] as number[] },
    { name: `${method}: injected`, run: () => ask('POST', '/injected', whole), microseconds: [] as number[] }
  ]
})

// What is timed must be right.
for (const method of ['GET', 'PUT']) {
  const body = method === 'PUT' ? { name: 'Tea' } : undefined
  const alone = JSON.parse(await ask(method, '/products/7', body && JSON.stringify(body))) as unknown
  const operation = { id: 'a', method, path: '/products/7', body }
  const [outcome] = JSON.parse(await ask('POST', '/product-batches', JSON.stringify({ operations: [operation] }))) as [{ body: unknown }]
  if (JSON.stringify(outcome.body) !== JSON.stringify(alone)) throw new Error(`a batch does not answer ${method} as a request does`)
}
for (const { run } of kinds) for (let n = 0; n < batches; n += 1) await run()
for (let round = 0; round < rounds; round += 1) {
  for (const kind of kinds) {
    const before = await processorTime(child)
    for (let n = 0; n < batches; n += 1) await kind.run()
    kind.microseconds.push(((await processorTime(child)) - before) / batches / operationsPerBatch)
  }
}
console.log(`${rounds} interleaved rounds; processor time per operation, median; of the cost of requests, median and range`)
for (const [index, { name, microseconds }] of kinds.entries()) {
  const requests = kinds[index - (index % 3)]?.microseconds ?? []
  // Paired by round: what slows the machine for a while slows both.
  const ratios = microseconds.map((value, round) => value / (requests[round] as number)).toSorted((a, b) => a - b)
  const range = `${ratios[0]?.toFixed(2)}–${ratios.at(-1)?.toFixed(2)}`
  console.log(`${name.padEnd(16)} ${median(microseconds).toFixed(1).padStart(6)} µs  ${median(ratios).toFixed(2)}  (${range})`)
}
child.disconnect()
agent.destroy()

function ask(method: string, path: string, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const sent = request(`${address}${path}`, { method, agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () => {
        if (response.statusCode === 200) resolve(text)
        else reject(new Error(`${method} ${path} answered ${response.statusCode}: ${text}`))
      })
    })
    sent.on('error', reject).end(body)
  })
}

async function processorTime(server: ChildProcess): Promise<number> {
  server.send('time')
  const [usage] = (await once(server, 'message')) as [NodeJS.CpuUsage]
  return usage.user + usage.system
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] as number
}
