import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { RunTest } from '@concordat/plugin-kit/testing'
import { type Claim, type Outcome, retryAfterThrowSeconds } from '../work-queue.ts'
import { begin, type Create, done, itemOf, longLease, noteClaim, notePayload, rarely, seconds } from './contract-queue.ts'

// The schedule of Standard Webhooks 1.0: 75 hours and 35 minutes.
const schedule = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]

/** Tests when and how often a job starts. */
export function contractOfTrying(test: RunTest, create: Create): void {
  test('runs a job once, with the enqueued payload', async () => {
    const { queue, clock, name } = await begin(create)
    const payloads = [{ id: 'Ñandú', list: [1, null, true] }, 'text', 7, null, ['a']]
    const claims: Claim[] = []
    const stop = queue.work(name, noteClaim(claims), { concurrency: 2 })
    const ids = await queue.enqueue(name, payloads.map(itemOf))
    await clock.advance(5 * seconds)
    deepStrictEqual(new Set(claims.map(({ id }) => id)), new Set(ids))
    deepStrictEqual(
      ids.map((id) => claims.find((claim) => claim.id === id)?.payload),
      payloads
    )
    deepStrictEqual(
      claims.map(({ attempt }) => attempt),
      payloads.map(() => 1)
    )
    await stop()
  })

  test('does not enqueue a known id again, while its job waits or after it has ended', async () => {
    const { queue, clock, name } = await begin(create, longLease)
    const [id, other] = [randomUUID(), randomUUID()]
    deepStrictEqual(await queue.enqueue(name, [{ id, payload: 1 }]), [id])
    deepStrictEqual(await queue.enqueue(name, [{ id, payload: 2 }]), [])
    const seen: unknown[] = []
    const stop = queue.work(name, notePayload(seen), { concurrency: 1, ...rarely })
    await clock.advance(seconds)
    deepStrictEqual(
      await queue.enqueue(name, [
        { id, payload: 3 },
        { id: other, payload: 4 }
      ]),
      [other]
    )
    await clock.advance(seconds)
    deepStrictEqual(seen, [1, 4])
    await stop()
  })

  test('starts a job no earlier than its delay, and at most a second later', async () => {
    const { queue, clock, name } = await begin(create, longLease)
    const begun: unknown[] = []
    const stop = queue.work(name, notePayload(begun), { concurrency: 1, ...rarely })
    await queue.enqueue(name, [{ payload: 1, delaySeconds: 60 }])
    await clock.advance(59 * seconds)
    strictEqual(begun.length, 0)
    await clock.advance(2 * seconds)
    strictEqual(begun.length, 1)
    await stop()
  })

  test('starts jobs that are ready in the order in which they were enqueued', async () => {
    const { queue, clock, name, enqueue } = await begin(create, longLease)
    for (const payload of ['a', 'b', 'c']) {
      await enqueue(payload)
      await clock.advance(10)
    }
    const order: unknown[] = []
    const stop = queue.work(name, notePayload(order), { concurrency: 1, ...rarely })
    await clock.advance(seconds)
    deepStrictEqual(order, ['a', 'b', 'c'])
    await stop()
  })

  test('retries a job at the times that its handler returns, over 75 hours, never early and at most a second late', async () => {
    const { queue, clock, name, enqueue } = await begin(create, longLease)
    const tries: { at: number; attempt: number }[] = []
    const handler = async ({ attempt }: Claim): Promise<Outcome> => {
      tries.push({ at: clock.now(), attempt })
      const retryInSeconds = schedule[attempt - 1]
      return retryInSeconds === undefined ? done : { retryInSeconds, error: new Error('not yet') }
    }
    const stop = queue.work(name, handler, { concurrency: 5, ...rarely })
    await enqueue('a')
    await clock.advance(80 * 3600 * seconds)
    deepStrictEqual(
      tries.map(({ attempt }) => attempt),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    )
    for (const [index, wanted] of schedule.entries()) {
      const late = (tries[index + 1]?.at ?? 0) - (tries[index]?.at ?? 0) - wanted * seconds
      ok(late >= 0 && late <= seconds, `attempt ${index + 2} was ${late} ms late`)
    }
    await stop()
  })

  test('retries a job whose handler throws', async () => {
    const { queue, clock, name, enqueue } = await begin(create, longLease)
    const attempts: number[] = []
    const handler = async ({ attempt }: Claim) => {
      attempts.push(attempt)
      if (attempt < 3) throw new Error('no')
      return done
    }
    const stop = queue.work(name, handler, { concurrency: 1, ...rarely })
    await enqueue('a')
    await clock.advance((retryAfterThrowSeconds - 1) * seconds)
    deepStrictEqual(attempts, [1])
    await clock.advance((retryAfterThrowSeconds + 3) * seconds)
    deepStrictEqual(attempts, [1, 2, 3])
    await stop()
  })

  test('promote starts jobs that wait for their delay or a retry, and no others', async () => {
    const { queue, clock, name } = await begin(create, longLease)
    const seen: unknown[] = []
    const handler = async ({ payload, attempt }: Claim): Promise<Outcome> => {
      seen.push(payload)
      if (payload === 'dead') return { dead: true }
      return payload === 'retried' && attempt === 1 ? { retryInSeconds: 3600 } : done
    }
    const stop = queue.work(name, handler, { concurrency: 5, ...rarely })
    const payloads = ['delayed', 'later', 'retried', 'dead', 'ended']
    const ids = await queue.enqueue(
      name,
      payloads.map((payload) => ({ payload, delaySeconds: payload === 'delayed' || payload === 'later' ? 3600 : 0 }))
    )
    await clock.advance(seconds)
    deepStrictEqual(seen.toSorted(), ['dead', 'ended', 'retried'])
    strictEqual(await queue.promote(name, [...ids.filter((_, index) => payloads[index] !== 'later'), randomUUID()]), 2)
    await clock.advance(seconds)
    deepStrictEqual(seen.slice(3).toSorted(), ['delayed', 'retried'])
    strictEqual(await queue.promote(name, ids.slice(0, 1)), 0)
    await clock.advance(3600 * seconds)
    deepStrictEqual(seen.slice(5), ['later'])
    await stop()
  })

  test('the write of an outcome can promote its own retry', async () => {
    const { queue, clock, name, enqueue } = await begin(create, longLease)
    const claims: Claim[] = []
    const handler = async (claim: Claim): Promise<Outcome> => {
      if (claims.push(claim) === 2) return done
      return { retryInSeconds: 3600, write: async (transaction) => void (await queue.promote(name, [claim.id], transaction)) }
    }
    const stop = queue.work(name, handler, { concurrency: 1, ...rarely })
    await enqueue('a')
    await clock.advance(seconds)
    strictEqual(claims.length, 2)
    await stop()
  })

  test('only redrive starts a dead letter again, under the same id, as often as it is called', async () => {
    const { queue, clock, name, enqueue } = await begin(create, longLease)
    const claims: Claim[] = []
    const outcomes: Outcome[] = [{ dead: true, error: 'no' }, { dead: true }, { retryInSeconds: 1 }, done]
    const stop = queue.work(name, async (claim) => outcomes[claims.push(claim) - 1] ?? done, { concurrency: 1, ...rarely })
    const ids = await enqueue('a')
    await clock.advance(90 * seconds)
    strictEqual(claims.length, 1)
    strictEqual(await queue.redrive(name, [...ids, randomUUID()]), 1)
    await clock.advance(seconds)
    strictEqual(claims.length, 2)
    strictEqual(await queue.redrive(name, ids), 1)
    await clock.advance(5 * seconds)
    deepStrictEqual(
      claims.map(({ id }) => id),
      [ids[0], ids[0], ids[0], ids[0]]
    )
    deepStrictEqual(
      claims.map(({ attempt }) => attempt),
      [1, 2, 3, 4]
    )
    strictEqual(await queue.redrive(name, ids), 0)
    await stop()
  })
}
