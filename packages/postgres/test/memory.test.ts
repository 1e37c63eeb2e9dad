import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { onServer, server } from './database.ts'

const run = promisify(execFile)

t.test('a result does not survive the collections of the young generation', onServer, async (t) => {
  const program = fileURLToPath(new URL('memory-process.ts', import.meta.url))
  const { stdout } = await run(process.execPath, ['--conditions=@concordat/source', program, server])
  const { perStatement, scavenges } = JSON.parse(stdout) as Record<'perStatement' | 'scavenges', number>
  t.ok(scavenges > 0)
  // A result has 15,000 bytes, of which the timer of a statement would keep 2,000 or more for a full collection.
  t.ok(perStatement < 400, `${perStatement} bytes for each statement`)
})
