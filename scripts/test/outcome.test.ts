import { Readable } from 'node:stream'
import t from 'tap'
import { readOutcome } from '../outcome.ts'

async function read(tap: string) {
  const lines: string[] = []
  const outcome = await readOutcome(Readable.from([tap]), (line) => lines.push(line))
  return { ...outcome, text: lines.join('\n') }
}

/** One test file with these lines inside, closed with `ok` or `not ok`. */
const file = (inside: string, closing = 'ok 1 - a.test.ts # time=5ms\n') =>
  `TAP version 14\n1..1\n# Subtest: a.test.ts\n${inside.trim().replaceAll(/^/gm, '    ')}\n${closing}`

t.test('assertions are counted wherever they stand, and the tests around them are not', async (t) => {
  const outcome = await read(file('ok 1 - here\n# Subtest: deep\n    ok 1 - there\n    ok 2 - again\n    1..2\nok 2 - deep\n1..2'))
  t.strictSame(outcome, { passed: 3, failed: 0, text: '✓ a.test.ts  3 passed' })
})

t.test('a failure is counted once and shown with its path, difference and place', async (t) => {
  const inside =
    '# Subtest: deep\n    not ok 1 - should be equal\n      ---\n      diff: |\n        -2\n        +1\n      at:\n        fileName: a.test.ts\n        lineNumber: 3\n        columnNumber: 4\n      ...\n    1..1\nnot ok 1 - deep\n1..1'
  const outcome = await read(file(inside, 'not ok 1 - a.test.ts\n  ---\n  exitCode: 1\n  ...\n'))
  t.match(outcome, { passed: 0, failed: 1 })
  t.match(outcome.text, '✗ a.test.ts  0 passed, 1 failed\n    ✗ deep › should be equal\n')
  t.match(outcome.text, /-2\n {8}\+1\n {8}a\.test\.ts:3:4/)
})

t.test('a test file that dies without a failed assertion is one failure', async (t) => {
  const outcome = await read(file('ok 1 - fine\n1..1', 'not ok 1 - a.test.ts\n  ---\n  exitCode: 7\n  signal: null\n  ...\n'))
  t.match(outcome, { passed: 1, failed: 1, text: /the process ended with code 7/ })
})

t.test('a test that is never finished is one failure', async (t) => {
  const outcome = await read(file('# Subtest: plan\n    1..2\n    ok 1 - one\nnot ok 1 - plan\n1..1', 'not ok 1 - a.test.ts\n'))
  t.match(outcome, { passed: 1, failed: 1 })
})

t.test('a skipped assertion is neither, and is named', async (t) => {
  const outcome = await read(file('ok 1 - fine\nok 2 - later # SKIP\n1..2'))
  t.match(outcome, { passed: 1, failed: 0, text: /– later: skipped/ })
})

t.test('a run that is cut off is a failure', async (t) => {
  t.match(await read('TAP version 14\n1..3\n'), { passed: 0, failed: 1, text: /the run itself failed/ })
  t.match(await read('TAP version 14\nBail out! no more\n'), { passed: 0, failed: 1, text: /no more/ })
})
