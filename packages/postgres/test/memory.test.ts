import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { memoryOptions } from '@concordat/test-harness/request-counts'
import t from 'tap'
import { onServer, server } from './database.ts'

const run = promisify(execFile)

for (const kind of ['statement', 'transaction', 'request']) {
  t.test(`the result of a ${kind} does not survive the collections of the young generation`, onServer, async (t) => {
    const program = fileURLToPath(new URL('memory-process.ts', import.meta.url))
    const { stdout } = await run(process.execPath, [...memoryOptions, program, server, kind])
    const { bytes, scavenges } = JSON.parse(stdout) as Record<'bytes' | 'scavenges', number>
    t.ok(scavenges > 0)
    // A result has 16,000 bytes, all of which would survive with a timer for each statement, with the promises of pg, or with a WeakMap of transactions.
    t.ok(bytes < 2000, `${bytes} bytes for each ${kind}`)
  })
}
