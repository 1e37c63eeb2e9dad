// Runs tests on the next version of Fastify, of which only previews exist, and prints which of them fail: `node scripts/fastify-next.ts [files]`. The plugins
// state that they need version 5, which is left out here, so that what else differs shows.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { failuresIn, installVersions, testWith } from './other-versions.ts'
import { filesUnder, repository } from './workspace.ts'

const range = '^6.0.0-alpha.0'
// Each package alone, the preset, and errors, which use most of what Fastify has.
const usual = [
  'packages/*/test/alone.test.ts',
  'packages/conventions/test/{preset,border,order,pairs,servers,works-with,closing,hostile/hostile}.test.ts',
  'packages/error-catalogue/test/*.test.ts'
]

const withoutVersion = `const plugin = require('original-fastify-plugin')
module.exports = (fn, options = {}) => plugin(fn, { ...options, fastify: undefined })
module.exports.default = module.exports.fastifyPlugin = module.exports
`

async function main(patterns: readonly string[]) {
  const place = mkdtempSync(join(tmpdir(), 'concordat-fastify-'))
  try {
    const plugin = join(place, 'without-version')
    mkdirSync(plugin)
    writeFileSync(join(plugin, 'index.cjs'), withoutVersion)
    writeFileSync(join(plugin, 'package.json'), JSON.stringify({ name: 'fastify-plugin', version: '0.0.0', main: 'index.cjs' }))
    const original = 'npm:fastify-plugin@^6.0.1'
    await installVersions(place, { fastify: range, 'fastify-plugin': 'file:without-version', 'original-fastify-plugin': original })
    const files = [...new Set(patterns.flatMap((pattern) => filesUnder(repository, pattern)))]
    let failed = 0
    for (const file of files) {
      const { code, output } = await testWith(place, [file])
      if (code !== 0) failed++
      console.log(code === 0 ? `✓ ${file}` : `✗ ${file}\n${failuresIn(output)}`)
    }
    console.log(`Fastify ${range}: ${files.length - failed} of ${files.length} test files pass.`)
    if (failed > 0) process.exitCode = 1
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

if (import.meta.main) await main(process.argv.length > 2 ? process.argv.slice(2) : usual)
