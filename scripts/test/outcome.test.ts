import { Readable } from 'node:stream'
import t from 'tap'
import { type Outcome, readOutcome, slowestFiles, total } from '../outcome.ts'
import type { Ended } from '../test-process.ts'

/** Returns the outcome of a test file that prints this TAP and whose process ends in this way. */
async function read(tap: string, ended: Partial<Ended> = {}) {
  const stdout = Readable.from([`TAP version 14\n${tap}\n`])
  const { lines, ...outcome } = await readOutcome('a.test.ts', stdout, Promise.resolve({ code: 0, signal: null, ...ended }))
  return { ...outcome, text: lines.join('\n') }
}

t.test('assertions are counted at every level, but the tests around them are not', async (t) => {
  const outcome = await read('ok 1 - here\n# Subtest: deep\n    ok 1 - there\n    ok 2 - again\n    1..2\nok 2 - deep\n1..2')
  t.match(outcome, { name: 'a.test.ts', seconds: Number, passed: 3, failed: 0, text: /^✓ a\.test\.ts {2}3 passed {2}\d\.\d s$/ })
})

t.test('a failure is counted once and shown with its path, difference and location', async (t) => {
  const inside =
    '# Subtest: deep\n    not ok 1 - should be equal\n      ---\n      diff: |\n        -2\n        +1\n      at:\n        fileName: a.test.ts\n        lineNumber: 3\n        columnNumber: 4\n      ...\n    1..1\nnot ok 1 - deep\n1..1'
  const outcome = await read(inside, { code: 1 })
  t.match(outcome, { passed: 0, failed: 1 })
  t.match(outcome.text, /✗ a\.test\.ts {2}0 passed, 1 failed {2}\d\.\d s\n {4}✗ deep › should be equal\n/)
  t.match(outcome.text, /-2\n {8}\+1\n {8}a\.test\.ts:3:4/)
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
  t.match(await read('1..3\nok 1 - fine'), { passed: 1, failed: 1, text: /incorrect number of tests/ })
  t.match(await read('ok 1 - fine\nBail out! no more'), { passed: 1, failed: 1, text: /no more/ })
})
