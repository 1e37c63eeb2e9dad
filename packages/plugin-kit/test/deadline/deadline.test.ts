// In a process of its own: it counts the timers of the process.
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { waitAtMost, withDeadline } from '@concordat/plugin-kit/deadline'
import t from 'tap'

const late = () => new Error('too late')
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

t.test('resolves and rejects like work that ends in time', async (t) => {
  t.equal(await withDeadline(Promise.resolve(1), { ms: 60_000, onTimeout: late }), 1)
  await t.rejects(withDeadline(Promise.reject(new Error('broken')), { ms: 60_000, onTimeout: late }), { message: 'broken' })
})

t.test('leaves no timer behind when the work ends', async (t) => {
  const before = timers()
  await withDeadline(Promise.resolve(1), { ms: 60_000, onTimeout: late })
  await withDeadline(Promise.reject(new Error('broken')), { ms: 60_000, onTimeout: late }).catch(() => {})
  await waitAtMost(Promise.resolve(), 60_000)
  await waitAtMost(Promise.reject(new Error('broken')), 60_000)
  t.equal(timers(), before)
})

t.test('rejects with the error of onTimeout, and passes a late result to onLateResult', async (t) => {
  const { promise, resolve } = Promise.withResolvers<number>()
  const results: number[] = []
  await t.rejects(withDeadline(promise, { ms: 1, onTimeout: late, onLateResult: (result) => results.push(result) }), {
    message: 'too late'
  })
  resolve(7)
  await promise
  t.strictSame(results, [7])
})

t.test('a result that arrived while the event loop was blocked beyond the time limit is not late', async (t) => {
  const arrived = new Int32Array(new SharedArrayBuffer(4))
  const program = `
    const { parentPort, workerData } = require('node:worker_threads')
    parentPort.once('message', () => {
      parentPort.postMessage('result')
      Atomics.store(workerData, 0, 1)
      Atomics.notify(workerData, 0)
    })`
  const worker = new Worker(program, { eval: true, workerData: arrived })
  t.teardown(() => worker.terminate())
  await once(worker, 'online')
  // Timers run next after this.
  await setImmediate()
  const work = withDeadline(once(worker, 'message'), { ms: 1, onTimeout: late })
  const due = performance.now() + 1
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- of a worker, not of a window
  worker.postMessage('begin')
  Atomics.wait(arrived, 0, 0)
  while (performance.now() <= due + 1) continue
  t.strictSame(await work, ['result'])
})

t.test('ignores a late result without onLateResult, and a late rejection', async (t) => {
  const [first, second] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()]
  await t.rejects(withDeadline(first.promise, { ms: 1, onTimeout: late }), { message: 'too late' })
  await t.rejects(withDeadline(second.promise, { ms: 1, onTimeout: late }), { message: 'too late' })
  first.resolve(1)
  second.reject(new Error('late and broken'))
  t.equal(await first.promise, 1)
  await t.rejects(second.promise)
})

t.test('waitAtMost resolves when the work resolves or rejects, or after the time limit', async (t) => {
  let ended = 0
  const count = () => void (ended += 1)
  await waitAtMost(Promise.resolve(), 60_000).then(count)
  await waitAtMost(Promise.reject(new Error('broken')), 60_000).then(count)
  await waitAtMost(new Promise(() => {}), 1).then(count)
  t.equal(ended, 3)
})
