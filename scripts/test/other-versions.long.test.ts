// Other versions than those that every test runs with: of the SDK of OpenTelemetry, as npm installs it beside the packages, and of Node.js.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeOptions } from '@concordat/test-harness/child'
import t from 'tap'
import { reachableRegistry } from '../local-registry.ts'
import { failuresIn, installVersions, testWith } from '../other-versions.ts'
import { run } from '../run.ts'
import { repository } from '../workspace.ts'

t.setTimeout(0)

const skip = (await reachableRegistry()) === undefined && 'this machine cannot reach the registry of npm'
const place = mkdtempSync(join(tmpdir(), 'concordat-versions-'))
t.teardown(() => rmSync(place, { recursive: true, force: true }))

const second = {
  '@opentelemetry/api': '~1.9.0',
  '@opentelemetry/context-async-hooks': '^2.0.0',
  '@opentelemetry/exporter-prometheus': '~0.222.0',
  '@opentelemetry/sdk-metrics': '^2.0.0',
  '@opentelemetry/sdk-trace': '^2.0.0'
}
const latest = Object.fromEntries(Object.keys(second).map((name) => [name, 'latest']))

for (const [name, versions, major] of [
  ['version 2', second, '2.'],
  ['what npm install brings today', latest, '3.']
] as const)
  t.test(`telemetry on the SDK of OpenTelemetry, ${name}`, { skip }, async (t) => {
    const folder = join(place, name.replaceAll(' ', '-'))
    await installVersions(folder, versions)
    const { version } = JSON.parse(readFileSync(join(folder, 'node_modules/@opentelemetry/sdk-metrics/package.json'), 'utf8'))
    t.ok(version.startsWith(major), `sdk-metrics ${version}`)
    // Each in a process of its own, because an SDK is registered for the whole process.
    for (const file of [
      'packages/telemetry/test/alone.test.ts',
      'packages/telemetry/test/traces.test.ts',
      'packages/conventions/test/telemetry.test.ts',
      'packages/conventions/test/telemetry-outcomes.test.ts'
    ]) {
      const { code, output } = await testWith(folder, [file])
      t.equal(code, 0, `${file}\n${code === 0 ? '' : failuresIn(output)}`)
    }
  })

// Those that depend the most on Node.js: its servers, sockets, streams, timers and processes.
const files = [
  ...['preset', 'servers', 'http2-streams', 'pipelining', 'closing', 'webhooks', 'idempotency', 'multipart', 'hostile/hostile'].map(
    (name) => `packages/conventions/test/${name}.test.ts`
  ),
  ...['jobs', 'transaction', 'open'].map((name) => `packages/postgres/test/${name}.test.ts`),
  'packages/redis/test/two-processes.test.ts',
  'packages/client/test/client.test.ts',
  'examples/orders-service/test/retries.test.ts'
]

for (const version of ['22', '26'])
  t.test(`the build and tests of the servers, on Node.js ${version}`, { skip }, async (t) => {
    const folder = join(place, `node-${version}`)
    const name = `node-${process.platform}-${process.arch}`
    await installVersions(folder, { [name]: version })
    const node = join(folder, 'node_modules', name, process.platform === 'win32' ? 'bin/node.exe' : 'bin/node')
    const env = { ...process.env, NODE_OPTIONS: '', TAP_TIMEOUT: '240' }
    t.match((await run(node, ['--version'])).output, `v${version}.`)
    for (const words of [['scripts/build.ts'], ...files.map((file) => [...nodeOptions, '--no-warnings', 'scripts/test-files.ts', file])]) {
      const { code, output } = await run(node, words, { cwd: repository, env })
      t.equal(code, 0, `${words.at(-1)}\n${code === 0 ? '' : failuresIn(output)}`)
    }
  })
