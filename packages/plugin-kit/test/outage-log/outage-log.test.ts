import { mock } from 'node:test'
import { outageLog } from '@concordat/plugin-kit/outage-log'
import t, { type Test } from 'tap'

type Line = readonly [level: string, details: object, message: string]

/** Creates a log whose time only `tick` advances. */
function start(t: Test) {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const lines: Line[] = []
  const logger = (name: string) => ({
    error: (details: object, message: string) => void lines.push([`${name}error`, details, message]),
    info: (details: object, message: string) => void lines.push([`${name}info`, details, message])
  })
  const report = outageLog(logger(''))
  return { lines, report, logger }
}

const tick = (seconds: number) => mock.timers.tick(seconds * 1000)
const unavailable = (cause: unknown) => Object.assign(new Error('unavailable', { cause }), { code: 'UNAVAILABLE' })

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' })
const dropped = new Error('Connection terminated unexpectedly')

t.test('logs the first failure, a count each minute while it is repeated, and the end', async (t) => {
  const { lines, report } = start(t)
  for (let second = 0; second < 150; second += 1) {
    report(refused, 'database')
    tick(1)
  }
  tick(120)
  t.strictSame(lines, [
    ['error', { err: refused }, 'database'],
    ['error', { err: refused, repeats: 59 }, 'database: repeated in the last minute'],
    ['error', { err: refused, repeats: 60 }, 'database: repeated in the last minute'],
    ['error', { err: refused, repeats: 30 }, 'database: repeated in the last minute'],
    ['info', { failures: 150 }, 'database: not repeated for a minute']
  ])
  report(refused, 'database')
  t.equal(lines.length, 6, 'the next outage begins with a line')
})

t.test('logs a single failure once', async (t) => {
  const { lines, report } = start(t)
  report(dropped, 'database')
  tick(600)
  t.strictSame(lines, [['error', { err: dropped }, 'database']])
})

t.test('distinguishes failures by message, code and cause, and not by the text of errors with a code', async (t) => {
  const { lines, report } = start(t)
  const different: (readonly [unknown, string])[] = [
    [refused, 'database'],
    [refused, 'queue'],
    [dropped, 'queue'],
    [unavailable(refused), 'queue'],
    [unavailable(dropped), 'queue'],
    ['text', 'queue'],
    [undefined, 'queue'],
    [null, 'queue'],
    [Object.create(null, { code: { get: () => JSON.parse('') } }), 'queue']
  ]
  for (const [error, message] of different) report(error, message)
  t.equal(lines.length, different.length)
  for (const [error, message] of different) report(error, message)
  report(Object.assign(new Error('connect ECONNREFUSED ::1:5432'), { code: 'ECONNREFUSED' }), 'queue')
  t.equal(lines.length, different.length)
})

t.test('writes the first line to the log of the request', async (t) => {
  const { lines, report, logger } = start(t)
  report(refused, 'request failed', logger('request '))
  report(refused, 'request failed', logger('other '))
  tick(60)
  t.strictSame(
    lines.map(([level]) => level),
    ['request error', 'error']
  )
})

t.test('counts further kinds as one when there are more than 50', async (t) => {
  const { lines, report } = start(t)
  for (let row = 0; row < 10_000; row += 1) report(new Error(`row ${row} is missing`), 'database')
  t.equal(lines.length, 51)
  tick(60)
  t.match(lines.at(-1), ['error', { repeats: 9949 }, 'database: repeated in the last minute'])
  t.equal(lines.length, 52)
})
