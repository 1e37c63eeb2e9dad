// A process for the tests: node memory-process.ts <URL of a server> <statement or transaction>. It prints how many bytes each adds to the old generation.
import { constants, type NodeGCPerformanceDetail, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import { openDatabase } from '@concordat/postgres/open'

const [url = '', kind = ''] = process.argv.slice(2)
const runs = 4000
const sql = `SELECT n, repeat('x', 200) AS text FROM generate_series(1, 50) AS n`

const database = await openDatabase({ url })
let scavenges = 0
new PerformanceObserver((list) => {
  const kinds = list.getEntries().map((entry) => (entry as PerformanceEntry & { readonly detail: NodeGCPerformanceDetail }).detail.kind)
  scavenges += kinds.filter((kind) => kind === constants.NODE_PERFORMANCE_GC_MINOR).length
}).observe({ entryTypes: ['gc'] })

function oldBytes() {
  const old = getHeapSpaceStatistics().filter(({ space_name }) => !space_name.startsWith('new'))
  return old.reduce((sum, { space_used_size }) => sum + space_used_size, 0)
}

const work = kind === 'transaction' ? () => database.transaction((transaction) => transaction.query(sql)) : () => database.query(sql)

async function run(count: number) {
  for (let n = 0; n < count; n += 1) await work()
  await setImmediate()
}

// Compiles the code, and fills the caches.
await run(1000)
const before = oldBytes()
await run(runs)
console.log(JSON.stringify({ bytes: Math.round((oldBytes() - before) / runs), scavenges }))
await database.close()
