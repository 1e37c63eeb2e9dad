import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { keepCoverage } from '../coverage.ts'
import { type Outcome, readOutcomes } from '../outcome.ts'
import { processesFor, startTests, type TestRun } from '../test-process.ts'

const hanging = 'setInterval(() => {}, 1000)'

/** Runs the test file of a folder, and returns its outcome. */
async function runTest(cwd: string, options: Partial<TestRun> = {}): Promise<Outcome> {
  const [outcome] = await runTests(['a.test.ts'], cwd, options)
  return outcome as Outcome
}

function runTests(files: readonly string[], cwd: string, options: Partial<TestRun> = {}) {
  const run = { cwd, env: process.env, maxSeconds: 30, signal: new AbortController().signal, stderr: 'ignore', ...options } as const
  const { stdout, ended } = startTests(files, run)
  return readOutcomes(files, stdout, ended)
}

function folderWith(t: Test, source: string) {
  return t.testdir({ 'a.test.ts': `import t from 'tap'\n${source}` })
}

t.test('a TypeScript file runs, and its failures are shown with their location', async (t) => {
  const outcome = await runTest(folderWith(t, `t.ok(true as boolean)\nt.equal(1, 2, 'same')`))
  t.match(outcome, { passed: 1, failed: 1 })
  t.match(outcome.lines.join('\n'), /✗ same\n[^]*-2\n +\+1\n[^]*a\.test\.ts:3:3/)
})

t.test('files in one process are separate: hooks, teardowns, plans and what they throw', async (t) => {
  const folder = t.testdir({
    'a.test.ts': `import t from 'tap'
      import { appendFileSync } from 'node:fs'
      t.beforeEach(() => { throw new Error('of a alone') })
      t.teardown(() => appendFileSync('log', 'teardown of a. '))
      t.test('fails', async () => {})`,
    'b.test.ts': `import t from 'tap'
      import { appendFileSync } from 'node:fs'
      t.test('passes', async (t) => t.pass(String(appendFileSync('log', 'test of b. '))))`,
    'c.test.ts': `import t from 'tap'
      t.plan(0, 'no server')`,
    'd.test.ts': 'throw new Error("of d alone")',
    'e.test.ts': `import { test } from 'tap'
      test('passes', async (t) => t.pass())`
  })
  const outcomes = await runTests(['a.test.ts', 'b.test.ts', 'c.test.ts', 'd.test.ts', 'e.test.ts'], folder)
  t.match(outcomes, [
    { failed: 1, lines: [String, /of a alone/] },
    { passed: 1, failed: 0 },
    { passed: 0, failed: 0, lines: [/skipped: no server/] },
    { failed: 1, lines: [String, /of d alone/] },
    { passed: 1, failed: 0 }
  ])
  t.equal(readFileSync(join(folder, 'log'), 'utf8'), 'teardown of a. test of b. ')
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
    'a.test.ts': `import t from 'tap'\nimport './packages/one/src/a.ts'\nt.pass()`,
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

t.test('up to 16 files of a package share a process, except those that need one of their own', async (t) => {
  const names = Array.from({ length: 18 }, (_, index) => `${index + 10}.test.ts`)
  const files = [...names.map((name) => `packages/a/test/${name}`), 'packages/b/test/deep/b.test.ts', 'packages/a/test/alone.test.ts']
  const a = { ...Object.fromEntries(names.map((name) => [name, ''])), 'alone.test.ts': '// In a process of its own: it counts timers.\n' }
  const root = t.testdir({ packages: { a: { test: a }, b: { test: { deep: { 'b.test.ts': '' } } } } })
  t.strictSame(processesFor(root, files), [files.slice(0, 9), files.slice(9, 18), files.slice(18, 19), files.slice(19)])
})
