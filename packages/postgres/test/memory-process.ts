// A process for the tests: node memory-process.ts <URL of a server>. It prints how many bytes each statement adds to the old generation.
import { constants, type NodeGCPerformanceDetail, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import { openDatabase } from '@concordat/postgres/open'

const [url = ''] = process.argv.slice(2)
const statements = 4000
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

async function run(count: number) {
  for (let n = 0; n < count; n += 1) await database.query(sql)
  await setImmediate()
}

// Compiles the code, and fills the caches.
await run(1000)
const before = oldBytes()
await run(statements)
console.log(JSON.stringify({ perStatement: Math.round((oldBytes() - before) / statements), scavenges }))
await database.close()
