import { memoryWorkQueue, systemClock } from '@concordat/work-queue'
import { testClock } from '@concordat/work-queue/testing'
import t from 'tap'

t.test('a test clock runs due timers in order, at their time, and also the timers that they add', async (t) => {
  const clock = testClock(1000)
  const seen: [string, number][] = []
  clock.after(500, () => seen.push(['later', clock.now()]))
  clock.after(100, () => {
    seen.push(['first', clock.now()])
    clock.after(200, () => seen.push(['between', clock.now()]))
  })
  const cancel = clock.after(50, () => seen.push(['never', clock.now()]))
  cancel()
  await clock.advance(400)
  t.strictSame(seen, [
    ['first', 1100],
    ['between', 1300]
  ])
  t.equal(clock.now(), 1400)
  await clock.jump(1000)
  t.strictSame(seen.slice(2), [['later', 2400]])
})

t.test('a follower of a test clock moves with it until it unfollows', async (t) => {
  const clock = testClock(0)
  let moved = 0
  let rounds = 0
  const unfollow = clock.follow({
    moveBy: async (milliseconds) => void (moved += milliseconds),
    isBusy: () => (rounds += 1) < 5
  })
  clock.after(30, () => {})
  await clock.advance(100)
  t.equal(moved, 100)
  t.ok(rounds >= 5)
  unfollow()
  await clock.advance(100)
  t.equal(moved, 100)
})

t.test('the system clock runs due timers, unless they were cancelled', async (t) => {
  const { promise, resolve } = Promise.withResolvers<string>()
  systemClock.after(1, () => resolve('wrong'))()
  systemClock.after(2 ** 40, () => resolve('too early'))()
  systemClock.after(2, () => resolve('due'))
  t.equal(await promise, 'due')
  t.ok(Math.abs(systemClock.now() - Date.now()) < 1000)
})

t.test('an in-memory queue works with the system clock, and close removes the timers of delayed jobs', async (t) => {
  const queue = memoryWorkQueue()
  await queue.define('work')
  const { promise, resolve } = Promise.withResolvers<unknown>()
  queue.work('work', async ({ payload }) => (resolve(payload), { done: true }), { concurrency: 1 })
  await queue.enqueue('work', [{ payload: 'a', delaySeconds: 0.01 }])
  t.equal(await promise, 'a')
  await queue.enqueue('work', [{ payload: 'b', delaySeconds: 60 }])
  await queue.close()
})

t.test('an id is known for a day after its job has ended', async (t) => {
  const clock = testClock()
  const queue = memoryWorkQueue({ clock })
  await queue.define('work')
  queue.work('work', async () => ({ done: true }), { concurrency: 1 })
  const [id = ''] = await queue.enqueue('work', [{ payload: 1 }])
  await clock.advance(86_399_000)
  t.strictSame(await queue.enqueue('work', [{ id, payload: 1 }]), [])
  await clock.advance(1000)
  t.strictSame(await queue.enqueue('work', [{ id, payload: 1 }]), [id])
  t.throws(() => queue.kick('unknown'), /not defined/)
})
