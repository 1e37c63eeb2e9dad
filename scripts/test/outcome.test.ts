import { Readable } from 'node:stream'
import t from 'tap'
import { type Outcome, readOutcomes, slowestFiles, total } from '../outcome.ts'
import type { Ended } from '../test-process.ts'

/** Returns the TAP of a file that is a subtest. */
const inFile = (name: string, tap: string, ok = !tap.startsWith('not ok') && !tap.includes('\nnot ok')) =>
  `# Subtest: ${name}\n${tap.replace(/^/gm, '    ')}\n${ok ? 'ok' : 'not ok'} - ${name} # time=2000ms`

/** Returns the outcomes of the files a, b and c whose process prints this TAP and ends in this way. */
async function readAll(tap: string, ended: Partial<Ended> = {}, names: readonly string[] = ['a.test.ts', 'b.test.ts', 'c.test.ts']) {
  const stdout = Readable.from([`TAP version 14\n${tap}\n`])
  const outcomes = await readOutcomes(names, stdout, Promise.resolve({ code: 0, signal: null, ...ended }))
  return outcomes.map(({ lines, ...outcome }) => ({ ...outcome, text: lines.join('\n') }))
}

/** Returns the outcome of a test file that prints this TAP and whose process ends in this way. */
async function read(tap: string, ended: Partial<Ended> = {}) {
  const [outcome] = await readAll(`${inFile('a.test.ts', tap)}\n1..1`, ended, ['a.test.ts'])
  return outcome
}

t.test('assertions are counted at every level, but the tests around them are not', async (t) => {
  const outcome = await read('ok 1 - here\n# Subtest: deep\n    ok 1 - there\n    ok 2 - again\n    1..2\nok 2 - deep\n1..2')
  t.match(outcome, { name: 'a.test.ts', seconds: 2, passed: 3, failed: 0, text: /^✓ a\.test\.ts {2}3 passed {2}2\.0 s$/ })
})

t.test('a failure is counted once and shown with its path, difference and location', async (t) => {
  const inside =
    '# Subtest: deep\n    not ok 1 - should be equal\n      ---\n      diff: |\n        -2\n        +1\n      at:\n        fileName: a.test.ts\n        lineNumber: 3\n        columnNumber: 4\n      ...\n    1..1\nnot ok 1 - deep\n1..1'
  const outcome = await read(inside, { code: 1 })
  t.match(outcome, { passed: 0, failed: 1 })
  t.match(outcome?.text, /✗ a\.test\.ts {2}0 passed, 1 failed {2}2\.0 s\n {4}✗ deep › should be equal\n/)
  t.match(outcome?.text, /-2\n {8}\+1\n {8}a\.test\.ts:3:4/)
})

t.test('a test file that exits with an error but without a failed assertion is one failure', async (t) => {
  t.match(await read('ok 1 - fine\n1..1', { code: 7 }), { passed: 1, failed: 1, text: /the process ended with code 7/ })
  t.match(await read('ok 1 - fine\n1..1', { code: null, signal: 'SIGKILL' }), { failed: 1, text: /the process ended with SIGKILL/ })
})

t.test('an unfinished test is one failure', async (t) => {
  const outcome = await read('# Subtest: plan\n    1..2\n    ok 1 - one\nnot ok 1 - plan\n1..1', { code: 1 })
  t.match(outcome, { passed: 1, failed: 1 })
})

t.test('a skipped assertion counts neither as passed nor as failed, and is named', async (t) => {
  const outcome = await read('ok 1 - fine\nok 2 - later # SKIP\n1..2')
  t.match(outcome, { passed: 1, failed: 0, text: /– later: skipped/ })
})

t.test('a test file without assertions fails, unless it is skipped', async (t) => {
  t.match(await read('1..0'), { passed: 0, failed: 1, text: /No assertion was counted/ })
  t.match(await read('1..0 # no server'), { passed: 0, failed: 0, text: /skipped: no server/ })
  t.match(await read('ok 1 - later # SKIP\n1..1'), { passed: 0, failed: 0 })
})

t.test('the slowest files are named with their share of the total time', async (t) => {
  const files = [1, 6, 3].map((seconds): Outcome => ({ name: `${seconds}.test.ts`, seconds, passed: 2, failed: 1, lines: [] }))
  t.strictSame(total(files), { passed: 6, failed: 3 })
  t.strictSame(slowestFiles(files, 2), [
    'The slowest of 3 test files, which took 10.0 s in sum:',
    '    6.0 s  60.0 %  6.test.ts',
    '    3.0 s  30.0 %  3.test.ts'
  ])
  t.match(slowestFiles([], 2), [/0 test files/])
})

t.test('a file whose output is cut off is a failure', async (t) => {
  const start = '# Subtest: a.test.ts\n    ok 1 - fine'
  const [cut] = await readAll(`${start}\n    1..3`, {}, ['a.test.ts'])
  t.match(cut, { passed: 1, failed: 1, text: /incorrect number of tests/ })
  const [bailed] = await readAll(`${start}\n    Bail out! no more\nBail out! no more`, {}, ['a.test.ts'])
  t.match(bailed, { passed: 1, failed: 1, text: /no more/ })
})

t.test('of files that share a process, each has its own outcome', async (t) => {
  const a = inFile('a.test.ts', 'ok 1 - fine\n1..1')
  const b = inFile('b.test.ts', 'not ok 1 - wrong\n1..1')
  const c = inFile('c.test.ts', '1..0 # no server')
  t.match(await readAll(`${a}\n${b}\n${c}\n1..3`, { code: 1 }), [
    { name: 'a.test.ts', passed: 1, failed: 0 },
    { name: 'b.test.ts', passed: 0, failed: 1, text: /✗ wrong/ },
    { name: 'c.test.ts', passed: 0, failed: 0, text: /skipped: no server/ }
  ])
})

t.test('a process that ends too early fails the file it was in, and those after it', async (t) => {
  const a = inFile('a.test.ts', 'ok 1 - fine\n1..1')
  t.match(await readAll(`${a}\n# Subtest: b.test.ts\n    ok 1 - fine`, { code: 7 }), [
    { passed: 1, failed: 0 },
    { passed: 1, failed: 1, text: /the process ended with code 7/ },
    { passed: 0, failed: 1, text: /The process ended before it/ }
  ])
  t.match(await readAll('', { code: 1 }), [{ failed: 1 }, { failed: 1 }, { failed: 1 }])
})

t.test('what fails outside the tests of a file is a failure of the file before it', async (t) => {
  const files = ['a.test.ts', 'b.test.ts'].map((name) => inFile(name, 'ok 1 - fine\n1..1'))
  t.match(await readAll(`${files.join('\n')}\nnot ok 3 - thrown late\n1..3`, { code: 1 }, ['a.test.ts', 'b.test.ts']), [
    { passed: 1, failed: 0 },
    { passed: 1, failed: 1, text: /thrown late/ }
  ])
})
