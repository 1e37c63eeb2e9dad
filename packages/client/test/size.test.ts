import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import t from 'tap'

const maxBytes = 6144

t.test(`a page needs at most ${maxBytes} bytes for the client`, async (t) => {
  const contents = "export { ApiError, createClient, createSession, isCode } from './index.ts'"
  const stdin = { contents, resolveDir: join(import.meta.dirname, '../src'), loader: 'ts' as const }
  const { outputFiles } = await build({ stdin, bundle: true, minify: true, format: 'esm', target: 'es2022', write: false })
  const size = gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length
  t.ok(size > 0 && size <= maxBytes, `${size} bytes`)
})
