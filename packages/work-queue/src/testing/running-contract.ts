import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { RunTest } from '@concordat/plugin-kit/testing'
import type { Claim, Outcome } from '../work-queue.ts'
import { begin, type Create, done, longLease, notePayload, rarely, seconds, until } from './contract-queue.ts'

/** Tests concurrency, order and cancellation. */
export function contractOfRunning(test: RunTest, create: Create): void {
  test('runs more jobs than slots without waiting for the next poll', async () => {
    const { queue, clock, name, enqueue } = await begin(create, longLease)
    let [running, most, ended] = [0, 0, 0]
    const handler = async () => {
      most = Math.max(most, (running += 1))
      await setImmediate()
      running -= 1
      ended += 1
      return done
    }
    const stop = queue.work(name, handler, { concurrency: 3, ...rarely })
    await enqueue(...Array(50).keys())
    await clock.advance(0)
    deepStrictEqual({ most, ended }, { most: 3, ended: 50 })
    await stop()
  })

  test('backlog counts the jobs that wait, start later and run, and returns the age of the oldest that does not run', async () => {
    const { queue, clock, name, enqueue } = await begin(create, longLease)
    const other = `other-${name}`
    await queue.define(other)
    if (queue.backlog === undefined) return
    const counts = async () => queue.backlog?.([name, other])
    const idle = { waiting: 0, delayed: 0, running: 0, oldestSeconds: 0 }
    deepStrictEqual(await counts(), [
      { name, ...idle },
      { name: other, ...idle }
    ])
    await enqueue('first')
    await clock.advance(5 * seconds)
    await enqueue('second')
    await queue.enqueue(name, [{ payload: 'later', delaySeconds: 3600 }])
    const [backlog] = (await counts()) ?? []
    const oldestSeconds = Math.round(backlog?.oldestSeconds ?? 0)
    deepStrictEqual({ ...backlog, oldestSeconds }, { name, waiting: 2, delayed: 1, running: 0, oldestSeconds: 5 })
    const slow = Promise.withResolvers<void>()
    const running = Promise.withResolvers<void>()
    const handler = async () => {
      running.resolve()
      await slow.promise
      return done
    }
    const stop = queue.work(name, handler, { concurrency: 1, ...rarely })
    await running.promise
    const [begun] = (await counts()) ?? []
    deepStrictEqual({ ...begun, oldestSeconds: 0 }, { name, waiting: 1, delayed: 1, running: 1, oldestSeconds: 0 })
    slow.resolve()
    await stop()
  })

  test('a claim has the trace of its item', async () => {
    const { queue, name } = await begin(create, longLease)
    const claims: Claim[] = []
    const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    await queue.enqueue(name, [{ payload: 1, trace }, { payload: 2 }])
    const stop = queue.work(name, async (claim) => (claims.push(claim), done), { concurrency: 2, ...rarely })
    await until(() => claims.length === 2)
    deepStrictEqual(
      new Map(claims.map((claim) => [claim.payload, claim.trace])),
      new Map([
        [1, trace],
        [2, undefined]
      ])
    )
    await stop()
  })

  test('a slow job does not block other jobs', async () => {
    const { queue, name, enqueue } = await begin(create, longLease)
    const slow = Promise.withResolvers<void>()
    let ended = 0
    const handler = async ({ payload }: Claim) => {
      if (payload === 0) await slow.promise
      ended += 1
      return done
    }
    const stop = queue.work(name, handler, { concurrency: 5, ...rarely })
    await enqueue(...Array(20).keys())
    await until(() => ended === 19)
    slow.resolve()
    await stop()
    strictEqual(ended, 20)
  })

  test('runs at most perKey jobs of one key at the same time, and jobs of other keys continue', async () => {
    const { queue, clock, name } = await begin(create, longLease)
    const running: Record<string, number> = { a: 0, b: 0 }
    let [most, ended] = [0, 0]
    const handler = async ({ payload }: Claim) => {
      const key = payload as string
      most = Math.max(most, (running[key] = (running[key] ?? 0) + 1))
      await setImmediate()
      running[key] = (running[key] ?? 0) - 1
      ended += 1
      return done
    }
    await queue.enqueue(
      name,
      'aaaaaaaabb'.split('').map((key) => ({ payload: key, key }))
    )
    const stop = queue.work(name, handler, { concurrency: 6, perKey: 2, ...rarely })
    await clock.advance(0)
    strictEqual(ended, 10)
    ok(most <= 2, `${most} at the same time`)
    await stop()
  })

  test('keys whose jobs do not end leave slots for the jobs of other keys', async () => {
    const { queue, clock, name } = await begin(create, longLease)
    const slow = Promise.withResolvers<void>()
    const ended: unknown[] = []
    const handler = async ({ payload }: Claim) => {
      if (payload !== 'other') await slow.promise
      ended.push(payload)
      return done
    }
    const items = 'aaaabbbbccccddddeeeeffff'.split('').map((key) => ({ payload: key, key }))
    await queue.enqueue(name, items)
    const stop = queue.work(name, handler, { concurrency: 20, perKey: 4, ...rarely })
    await queue.enqueue(name, [{ payload: 'other', key: 'other' }])
    queue.kick(name)
    await until(() => ended.length > 0)
    deepStrictEqual(ended, ['other'])
    slow.resolve()
    await clock.advance(0)
    strictEqual(ended.length, 25)
    await stop()
  })

  test('keys take turns, so that a job does not wait for all older jobs of others', async () => {
    const { queue, clock, name } = await begin(create, longLease)
    const order: string[] = []
    const handler = async ({ payload }: Claim) => (order.push(payload as string), done)
    const keys = [...Array<string>(30).fill('a'), ...Array<string>(30).fill('b'), 'c', 'd']
    await queue.enqueue(
      name,
      keys.map((key) => ({ payload: key, key }))
    )
    const stop = queue.work(name, handler, { concurrency: 2, perKey: 2, ...rarely })
    await clock.advance(0)
    strictEqual(order.length, 62)
    ok(Math.max(order.indexOf('c'), order.indexOf('d')) < 12, order.join(''))
    await stop()
  })

  test('the keys of a long line take turns', async () => {
    const { queue, clock, name } = await begin(create, longLease)
    const ended: unknown[] = []
    const keys = Array.from({ length: 500 }, (_, index) => `key-${index % 250}`)
    await queue.enqueue(
      name,
      keys.map((key, payload) => ({ payload, key }))
    )
    const stop = queue.work(name, notePayload(ended), { concurrency: 50, perKey: 2, ...rarely })
    await clock.advance(0)
    strictEqual(new Set(ended).size, 500)
    await stop()
  })

  test('a part of a key leaves jobs for the other parts, also when its jobs do not end', async () => {
    const { queue, clock, name } = await begin(create, longLease)
    const slow = Promise.withResolvers<void>()
    const [begun, ended]: [string[], string[]] = [[], []]
    const handler = async ({ payload }: Claim) => {
      const part = payload as string
      begun.push(part)
      if (part === 'a') await slow.promise
      ended.push(part)
      return done
    }
    const items = 'aaaaaaaaaaaabbbbbbcccccc'.split('').map((part) => ({ payload: part, key: 'one', part }))
    await queue.enqueue(name, [...items, { payload: 'other', key: 'two', part: 'a' }, { payload: 'whole', key: 'one' }])
    const stop = queue.work(name, handler, { concurrency: 20, perKey: 4, ...rarely })
    // The third of this part may have to wait until the end of the last of the others is stored.
    const ofSlowPart = () => begun.filter((part) => part === 'a').length
    await until(() => ended.length === 14 && ofSlowPart() >= 3)
    strictEqual(ofSlowPart(), 3)
    deepStrictEqual(ended.toSorted(), ['b', 'b', 'b', 'b', 'b', 'b', 'c', 'c', 'c', 'c', 'c', 'c', 'other', 'whole'])
    slow.resolve()
    await clock.advance(0)
    strictEqual(ended.length, 26)
    await stop()
  })

  test('outcomes that share a transaction end or retry their jobs, each after its own time', async () => {
    const { queue, clock, name, enqueue } = await begin(create, longLease)
    const starts: [payload: unknown, at: number][] = []
    const begunAt = clock.now()
    const all = Promise.withResolvers<void>()
    const handler = async ({ payload, attempt }: Claim): Promise<Outcome> => {
      starts.push([payload, Math.round((clock.now() - begunAt) / seconds)])
      if (starts.length === 6) all.resolve()
      await all.promise
      const outcome = { write: async () => {}, mayShare: true }
      return attempt === 1 && Number(payload) > 0 ? { ...outcome, retryInSeconds: Number(payload) } : { ...outcome, done: true }
    }
    const stop = queue.work(name, handler, { concurrency: 6, ...rarely })
    await enqueue(0, 0, 60, 60, 120, 180)
    await clock.advance(300 * seconds)
    deepStrictEqual(
      starts.slice(6),
      [60, 60, 120, 180].map((payload) => [payload, payload])
    )
    await stop()
  })

  test('an ordered queue keeps the order of each key through retries, and a dead letter blocks its key until it is cancelled', async () => {
    const { queue, clock, name } = await begin(create, { ...longLease, ordered: true })
    const order: string[] = []
    const handler = async ({ payload, attempt }: Claim): Promise<Outcome> => {
      order.push(payload as string)
      if (payload === 'a1' && attempt === 1) return { retryInSeconds: 60 }
      return payload === 'a2' ? { dead: true } : done
    }
    const ids: string[] = []
    for (const payload of ['a1', 'a2', 'a3', 'b1', 'b2']) {
      ids.push(...(await queue.enqueue(name, [{ payload, key: payload.slice(0, 1) }])))
      await clock.advance(10)
    }
    await rejects(queue.enqueue(name, [{ payload: 'c' }]), /key/)
    const stop = queue.work(name, handler, { concurrency: 5, ...rarely })
    await clock.advance(30 * seconds)
    deepStrictEqual(order.toSorted(), ['a1', 'b1', 'b2'])
    await clock.advance(90 * seconds)
    deepStrictEqual(order.slice(3), ['a1', 'a2'])
    strictEqual(await queue.cancel(name, ids[1] ?? ''), true)
    await clock.advance(seconds)
    deepStrictEqual(order.slice(5), ['a3'])
    await stop()
  })

  test('a job that is cancelled before it starts never starts, and a job that has ended cannot be cancelled', async () => {
    const { queue, clock, name, enqueue } = await begin(create, longLease)
    const seen: unknown[] = []
    const [first = '', second = ''] = await enqueue('a', 'b')
    deepStrictEqual([await queue.cancel(name, first), await queue.cancel(name, first)], [true, false])
    const stop = queue.work(name, notePayload(seen), { concurrency: 1, ...rarely })
    await clock.advance(seconds)
    deepStrictEqual(seen, ['b'])
    deepStrictEqual([await queue.cancel(name, second), await queue.cancel(name, randomUUID())], [false, false])
    await stop()
  })

  test('aborts the signal of a job that is cancelled while it runs, and ignores its outcome', async () => {
    const { queue, clock, name, enqueue } = await begin(create, longLease)
    const received = Promise.withResolvers<void>()
    const claims: Claim[] = []
    let written = 0
    const handler = async (claim: Claim): Promise<Outcome> => {
      claims.push(claim)
      claim.signal.addEventListener('abort', () => received.resolve())
      await received.promise
      return { retryInSeconds: 1, write: async () => void (written += 1) }
    }
    const stop = queue.work(name, handler, { concurrency: 1, ...rarely })
    const [id = ''] = await enqueue('a')
    await until(() => claims.length === 1)
    strictEqual(await queue.cancel(name, id), true)
    await received.promise
    await clock.advance(60 * seconds)
    deepStrictEqual([claims.length, written], [1, 0])
    await stop()
  })
}
