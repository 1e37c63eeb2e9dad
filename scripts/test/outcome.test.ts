import { Readable } from 'node:stream'
import t from 'tap'
import { joined, readOutcome, slowestFiles } from '../outcome.ts'

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
  t.strictSame(outcome, {
    passed: 3,
    failed: 0,
    files: [{ name: 'a.test.ts', seconds: 0.005, passed: 3, failed: 0 }],
    text: '✓ a.test.ts  3 passed  0.0 s'
  })
})

t.test('a failure is counted once and shown with its path, difference and place', async (t) => {
  const inside =
    '# Subtest: deep\n    not ok 1 - should be equal\n      ---\n      diff: |\n        -2\n        +1\n      at:\n        fileName: a.test.ts\n        lineNumber: 3\n        columnNumber: 4\n      ...\n    1..1\nnot ok 1 - deep\n1..1'
  const outcome = await read(file(inside, 'not ok 1 - a.test.ts\n  ---\n  exitCode: 1\n  ...\n'))
  t.match(outcome, { passed: 0, failed: 1 })
  t.match(outcome.text, '✗ a.test.ts  0 passed, 1 failed  0.0 s\n    ✗ deep › should be equal\n')
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

t.test('a test file that counts no assertion fails, except one that is skipped', async (t) => {
  t.match(await read(file('1..0')), { passed: 0, failed: 1, text: /No assertion was counted/ })
  t.match(await read(file('1..0 # SKIP no server', 'ok 1 - a.test.ts # SKIP no server\n')), {
    passed: 0,
    failed: 0,
    text: /skipped: no server/
  })
  t.match(await read(file('ok 1 - later # SKIP\n1..1')), { passed: 0, failed: 0 })
})

t.test('the slowest files are named with their share of the sum, of two runs too', async (t) => {
  const files = [1, 6, 3].map((seconds) => ({ name: `${seconds}.test.ts`, seconds, passed: 1, failed: 0 }))
  const one = { passed: 2, failed: 1, files: files.slice(0, 2) }
  const both = joined(one, { passed: 1, failed: 0, files: files.slice(2) })
  t.match(both, { passed: 3, failed: 1 })
  t.strictSame(slowestFiles(both.files, 2), [
    'The slowest of 3 test files, which took 10.0 s in sum:',
    '    6.0 s  60.0 %  6.test.ts',
    '    3.0 s  30.0 %  3.test.ts'
  ])
  t.match(slowestFiles([], 2), [/0 test files/])
})

t.test('a run that is cut off is a failure', async (t) => {
  t.match(await read('TAP version 14\n1..3\n'), { passed: 0, failed: 1, text: /the run itself failed/ })
  t.match(await read('TAP version 14\nBail out! no more\n'), { passed: 0, failed: 1, text: /no more/ })
})
