import { mock } from 'node:test'
import { testClock } from '@concordat/testing'
import t from 'tap'

t.test('Date begins at a time, moves only when the test moves it, and is that of the system after the test', async (t) => {
  for (const start of ['2026-01-31T12:00:00Z', new Date('2026-01-31T12:00:00Z'), Date.parse('2026-01-31T12:00:00Z')])
    await t.test(String(start), async (t) => {
      const clock = testClock(t, start)
      clock.advance(90)
      clock.advance(0.0015)
      t.strictSame([new Date().toISOString(), Date.now()], ['2026-01-31T12:01:30.002Z', Date.parse('2026-01-31T12:01:30.002Z')])
    })
  t.ok(Date.now() >= performance.timeOrigin)
})

t.test('without a start, a clock begins now', async (t) => {
  const before = Date.now()
  testClock(t)
  const time = Date.now()
  mock.timers.reset()
  t.ok(time >= before && time <= Date.now())
})

t.test('a start that is not a time, a step back and a second clock are refused', async (t) => {
  t.throws(() => testClock(t, 'soon'), { message: 'testing: the start of the clock, "soon", is not a time. Use an ISO 8601 text.' })
  t.throws(() => testClock(t).advance(-1), { message: /advances by seconds from 0, but not by -1/ })
  t.throws(() => testClock(t), {
    message: 'testing: Date is replaced already. Use one clock in a test, and none in tests that run at the same time.'
  })
})
