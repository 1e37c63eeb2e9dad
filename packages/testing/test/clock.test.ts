import { testClock } from '@concordat/testing'
import t from 'tap'

t.test('a clock begins at a time and moves only when the test moves it', async (t) => {
  for (const start of ['2026-01-31T12:00:00Z', new Date('2026-01-31T12:00:00Z'), Date.parse('2026-01-31T12:00:00Z')]) {
    const clock = testClock(start)
    clock.advance(90)
    clock.advance(0.0015)
    t.equal(new Date(clock.now()).toISOString(), '2026-01-31T12:01:30.002Z')
  }
})

t.test('without a start, a clock begins now', async (t) => {
  const before = Date.now()
  const time = testClock().now()
  t.ok(time >= before && time <= Date.now())
})

t.test('a start that is not a time, and a step back, are refused', async (t) => {
  t.throws(() => testClock('soon'), { message: 'testing: the start of the clock, "soon", is not a time. Use an ISO 8601 text.' })
  t.throws(() => testClock().advance(-1), { message: /advances by seconds from 0, but not by -1/ })
})
