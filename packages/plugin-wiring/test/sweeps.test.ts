import { mock } from 'node:test'
import { sweepEachMinute } from '@concordat/plugin-wiring'
import { turns } from '@concordat/test-harness/until'
import Fastify from 'fastify'
import t, { type Test } from 'tap'

/** A service at rest whose sweep does what `sweep` does. */
async function service(t: Test, sweep: (maximum: number) => Promise<number | undefined>) {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const lines: { level: number; msg: string }[] = []
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line) => void lines.push(JSON.parse(line)) } } })
  t.teardown(() => app.close())
  sweepEachMinute(app, 'rows were not deleted', sweep)
  const minute = async () => {
    mock.timers.tick(60_000)
    await turns(5)
  }
  return { app, lines, minute }
}

t.test('sweeps each minute while there are no requests, again after a full batch, and not after the service has closed', async (t) => {
  const left = [1000, 1000, 12, 0, 1000]
  const maxima: number[] = []
  const { app, minute } = await service(t, async (maximum) => {
    maxima.push(maximum)
    return left.shift()
  })
  await minute()
  t.strictSame(maxima, [], 'not before the service is ready')
  await app.ready()
  await minute()
  t.strictSame(maxima, [1000, 1000, 1000])
  await minute()
  t.equal(maxima.length, 4)
  await app.close()
  await minute()
  t.equal(maxima.length, 4)
})

t.test('one sweep runs at a time, and a full batch is the last one when the service closes meanwhile', async (t) => {
  const { promise, resolve } = Promise.withResolvers<number>()
  let calls = 0
  const { app, minute } = await service(t, () => {
    calls += 1
    return promise
  })
  await app.ready()
  await minute()
  await minute()
  t.equal(calls, 1)
  await app.close()
  resolve(1000)
  await turns(5)
  t.equal(calls, 1)
})

t.test('a failure is a warning, the next minute tries again, and a failure while the service closes is none', async (t) => {
  let calls = 0
  let last: PromiseWithResolvers<number> | undefined
  const { app, lines, minute } = await service(t, async () => {
    calls += 1
    if (calls < 3) throw new Error('The database is down.')
    last = Promise.withResolvers<number>()
    return last.promise
  })
  await app.ready()
  await minute()
  await minute()
  t.match(lines, [
    { level: 40, msg: 'rows were not deleted' },
    { level: 40, msg: 'rows were not deleted' }
  ])
  await minute()
  await app.close()
  last?.reject(new Error('The pool has ended.'))
  await turns(5)
  t.equal(lines.length, 2)
})
