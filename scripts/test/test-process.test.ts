import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { keepCoverage } from '../coverage.ts'
import { readOutcome } from '../outcome.ts'
import { startTest, type TestRun } from '../test-process.ts'

const tap = import.meta.resolve('tap')
const hanging = 'setInterval(() => {}, 1000)'

/** Runs the test file of a folder, and returns its outcome. */
function runTest(cwd: string, options: Partial<TestRun> = {}) {
  const run = { cwd, env: process.env, maxSeconds: 30, signal: new AbortController().signal, stderr: 'ignore', ...options } as const
  const { stdout, ended } = startTest('a.test.ts', run)
  return readOutcome('a.test.ts', stdout, ended)
}

function folderWith(t: Test, source: string) {
  return t.testdir({ 'a.test.ts': `import t from '${tap}'\n${source}` })
}

t.test('a TypeScript file runs, and its failures are shown with their location', async (t) => {
  const outcome = await runTest(folderWith(t, `t.ok(true as boolean)\nt.equal(1, 2, 'same')`))
  t.match(outcome, { passed: 1, failed: 1 })
  t.match(outcome.lines.join('\n'), /✗ same\n[^]*-2\n +\+1\n[^]*a\.test\.ts:3:3/)
})

t.test('a test that exceeds its time limit is named', async (t) => {
  const folder = folderWith(t, `t.pass()\nt.test('waits', () => new Promise(() => ${hanging}))`)
  const outcome = await runTest(folder, { maxSeconds: 1 })
  t.match(outcome, { passed: 1, failed: 1 })
  t.match(outcome.lines.join('\n'), /✗ [^]*waits/)
})

t.test('processes that a test leaves behind end together with the test', async (t) => {
  const source = `import { spawn } from 'node:child_process'
    const child = spawn(process.execPath, ['-e', '${hanging}'], { stdio: ['ignore', 'inherit', 'ignore'] })
    child.unref()
    t.pass()`
  // A process that stays would keep the output open.
  t.match(await runTest(folderWith(t, source)), { passed: 1, failed: 0 })
})

t.test('a stopped run ends its test', async (t) => {
  const controller = new AbortController()
  const folder = t.testdir({ 'a.test.ts': hanging })
  const outcome = runTest(folder, { signal: controller.signal })
  controller.abort()
  t.match(await outcome, { passed: 0, failed: 1, lines: [/a\.test\.ts/, /SIGTERM/] })
  t.match(await runTest(folder, { signal: controller.signal }), { failed: 1 })
})

t.test('the coverage of src is retained, other coverage is removed', async (t) => {
  const root = t.testdir({
    'a.test.ts': `import t from '${tap}'\nimport './packages/one/src/a.ts'\nt.pass()`,
    packages: { one: { src: { 'a.ts': 'export const a: number = 1' } } },
    kept: {}
  })
  const raw = join(root, 'raw')
  const kept = join(root, 'kept')
  await runTest(root, { env: { ...process.env, NODE_V8_COVERAGE: raw } })
  keepCoverage(root, raw, kept)
  t.notOk(existsSync(raw))
  const reports = readdirSync(kept).map((file) => JSON.parse(readFileSync(join(kept, file), 'utf8')))
  t.match(reports, [{ result: [{ url: pathToFileURL(join(root, 'packages/one/src/a.ts')).href, functions: Array }] }])
  t.equal(reports[0].result.length, 1)
})
