import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { bundle } from '../scripts/serve.ts'

t.test('the page is one file for browsers, smaller than 12 kB', async (t) => {
  const folder = t.testdir({})
  await bundle(folder)
  const script = readFileSync(join(folder, 'main.js'))
  t.notMatch(script.toString(), /require\(|from"node:/)
  const size = gzipSync(script).length
  t.comment(`${size} bytes`)
  t.ok(size < 12_000)
})
