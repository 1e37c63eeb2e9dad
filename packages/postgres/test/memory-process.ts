// A process for the tests: node memory-process.ts <URL of a server> <statement, transaction or request>. It prints how many bytes each adds to the old
// generation.
import { Agent, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { constants, type NodeGCPerformanceDetail, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { openDatabase } from '@concordat/postgres/open'
import unitOfWork from '@concordat/postgres/unit-of-work'
import { oldBytes } from '@concordat/test-harness/request-counts'
import Fastify from 'fastify'

const [url = '', kind = ''] = process.argv.slice(2)
const runs = 3000
const sql = `SELECT n, repeat('x', 200) AS text FROM generate_series(1, 50) AS n`

const database = await openDatabase({ url })
const app = Fastify({ handlerTimeout: 30_000 })
await app.register(unitOfWork, { database: database.postgres })
app.post('/', { config: { transaction: true } }, async ({ transaction }) => (await transaction.query(sql)).rows)
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

const works: Record<string, () => Promise<unknown>> = {
  statement: () => database.query(sql),
  transaction: () => database.transaction((transaction) => transaction.query(sql)),
  request: () =>
    new Promise<string>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, method: 'POST', agent })
      sent.on('error', reject).on('response', (response) => resolve(text(response)))
      sent.end()
    })
}
const work = works[kind] as () => Promise<unknown>

let scavenges = 0
new PerformanceObserver((list) => {
  const kinds = list.getEntries().map((entry) => (entry as PerformanceEntry & { readonly detail: NodeGCPerformanceDetail }).detail.kind)
  scavenges += kinds.filter((kind) => kind === constants.NODE_PERFORMANCE_GC_MINOR).length
}).observe({ entryTypes: ['gc'] })

async function run(count: number) {
  for (let n = 0; n < count; n += 1) await work()
  await setImmediate()
}

// Compiles the code, and fills the caches.
await run(1500)
const before = oldBytes()
await run(runs)
process.stdout.write(JSON.stringify({ bytes: Math.round((oldBytes() - before) / runs), scavenges }))
agent.destroy()
await app.close()
await database.close()
