import { mock } from 'node:test'
import { sweepRegularly } from '@concordat/plugin-kit/sweep'
import { turns } from '@concordat/test-harness/until'
import Fastify from 'fastify'
import t from 'tap'

t.test('sweeps in portions at each interval, continues after a failure, and ends with the service', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const lines: string[] = []
  const app = Fastify({ logger: { stream: { write: (line: string) => lines.push(JSON.parse(line).msg) } } })
  const calls: number[] = []
  const deleted = [1000, 1000, 3]
  let fails = false
  const sweep = async (maximum: number) => {
    calls.push(maximum)
    if (fails) throw new Error('down')
    return deleted.shift() ?? 0
  }
  sweepRegularly(app, 'shop: old carts were not deleted', sweep)
  await app.ready()
  t.strictSame(calls, [], 'not at the start')
  mock.timers.tick(60_000)
  await turns()
  t.strictSame(calls, [1000, 1000, 1000], 'until fewer than the maximum are left')
  fails = true
  mock.timers.tick(60_000)
  await turns()
  t.strictSame(lines, ['shop: old carts were not deleted'])
  fails = false
  mock.timers.tick(60_000)
  await turns()
  t.equal(calls.length, 5)
  await app.close()
  mock.timers.tick(600_000)
  await turns()
  t.equal(calls.length, 5, 'not after the end')
})
