import { deepStrictEqual, rejects, strictEqual, throws } from 'node:assert/strict'
import type { RunTest } from '@concordat/plugin-kit/testing'
import type { Claim, Outcome } from '../work-queue.ts'
import { begin, type Create, done, longLease, noteClaim, notePayload, rarely, seconds, until } from './contract-queue.ts'

/** Tests how attempts, workers and transactions end. */
export function contractOfEnding(test: RunTest, create: Create): void {
  test('executes the write of an outcome once, and retries the job when the write fails', async () => {
    const { queue, clock, name, enqueue } = await begin(create, longLease)
    const written: number[] = []
    const handler = async ({ attempt }: Claim): Promise<Outcome> => ({
      done: true,
      async write() {
        if (attempt === 1) throw new Error('no')
        written.push(attempt)
      }
    })
    const stop = queue.work(name, handler, { concurrency: 1, ...rarely })
    await enqueue('a')
    await clock.advance(60 * seconds)
    deepStrictEqual(written, [2])
    await stop()
  })

  test('executes each write of a shared transaction once, and a failed write does not affect the others', async () => {
    const { queue, clock, name, enqueue } = await begin(create, longLease)
    const kept: string[] = []
    const handler = async ({ payload, attempt }: Claim): Promise<Outcome> => ({
      done: true,
      mayShare: true,
      async write(open) {
        if (payload === 3 && attempt === 1) throw new Error('no')
        // In a transaction, the test counts the jobs that it enqueues, because they are rolled back with it.
        const entry = `${String(payload)}/${attempt}`
        if (open === undefined) kept.push(entry)
        else await queue.enqueue(`${name}-kept`, [{ payload: entry }], open)
      }
    })
    await queue.define(`${name}-kept`, longLease)
    const stops = [
      queue.work(name, handler, { concurrency: 20, ...rarely }),
      queue.work(`${name}-kept`, notePayload(kept), { concurrency: 1, ...rarely })
    ]
    await enqueue(...Array(10).keys())
    await clock.advance(60 * seconds)
    queue.kick(`${name}-kept`)
    await clock.advance(0)
    deepStrictEqual(kept.toSorted(), [...Array(10).keys()].map((payload) => `${payload}/${payload === 3 ? 2 : 1}`).toSorted())
    for (const stop of stops) await stop()
  })

  test('a worker that stops starts no more jobs and waits for running jobs', async () => {
    const { queue, clock, name, enqueue } = await begin(create, longLease)
    const begun: unknown[] = []
    const slow = Promise.withResolvers<Outcome>()
    const stop = queue.work(name, async ({ payload }) => (begun.push(payload), slow.promise), { concurrency: 1, ...rarely })
    await enqueue('a', 'b')
    await until(() => begun.length === 1)
    const stopping = stop(3600)
    slow.resolve(done)
    await stopping
    strictEqual(begun.length, 1)
    const stopNext = queue.work(name, notePayload(begun), { concurrency: 1, ...rarely })
    await clock.advance(60 * seconds)
    deepStrictEqual(begun, ['a', 'b'])
    await stopNext()
  })

  test('aborts and hands back jobs that do not end when a worker stops, and ignores their outcome', async () => {
    const { queue, clock, name, enqueue } = await begin(create, longLease)
    const claims: Claim[] = []
    const slow = Promise.withResolvers<void>()
    let written = 0
    const stop = queue.work(name, endLate, { concurrency: 1, ...rarely })
    const [id] = await enqueue('a')
    await until(() => claims.length === 1)
    await stop(0)
    strictEqual(claims[0]?.signal.aborted, true)
    const stopNext = queue.work(name, noteClaim(claims), { concurrency: 1, ...rarely })
    await clock.advance(0)
    slow.resolve()
    await clock.advance(0)
    deepStrictEqual(
      claims.map((claim) => [claim.id, claim.attempt]),
      [
        [id, 1],
        [id, 2]
      ]
    )
    strictEqual(written, 0)
    await stopNext()

    async function endLate(claim: Claim): Promise<Outcome> {
      claims.push(claim)
      await slow.promise
      return { done: true, write: async () => void (written += 1) }
    }
  })

  test('rejects a queue that was not defined, and a second worker in the same process', async () => {
    const { queue, name } = await begin(create, longLease)
    await rejects(queue.enqueue(`${name}-other`, [{ payload: 1 }]), /define/)
    const stop = queue.work(name, async () => done, { concurrency: 1, ...rarely })
    throws(() => queue.work(name, async () => done, { concurrency: 1, ...rarely }), /already has a worker/)
    await stop()
  })

  test('a job enqueued in a transaction exists after its commit or never; without transactions, it is rejected', async () => {
    const { queue, clock, name, transaction } = await begin(create)
    const seen: unknown[] = []
    const stop = queue.work(name, notePayload(seen), { concurrency: 2 })
    if (transaction === undefined) {
      strictEqual(queue.capabilities.transactional, false)
      await rejects(queue.enqueue(name, [{ payload: 1 }], { query: async () => ({ rows: [] }) }), /transaction/)
      return stop()
    }
    strictEqual(queue.capabilities.transactional, true)
    const rolledBack = transaction(async (open) => {
      await queue.enqueue(name, [{ payload: 'rolled back' }], open)
      throw new Error('no')
    })
    await rejects(rolledBack, /^Error: no$/)
    await transaction(async (open) => void (await queue.enqueue(name, [{ payload: 'found' }], open)))
    await clock.advance(seconds)
    deepStrictEqual(seen, ['found'])
    await transaction(async (open) => void (await queue.enqueue(name, [{ payload: 'told of' }], open)))
    queue.kick(name)
    await clock.advance(0)
    deepStrictEqual(seen, ['found', 'told of'])
    await stop()
  })

  test('runs a job that an outcome enqueues in its transaction, but not when the outcome fails', async () => {
    const { queue, clock, name } = await begin(create, longLease)
    const seen: unknown[] = []
    const handler = async ({ payload, attempt }: Claim): Promise<Outcome> => {
      seen.push(payload)
      if (payload !== 'first') return done
      return {
        done: true,
        async write(open) {
          if (attempt > 1 || open !== undefined) await queue.enqueue(name, [{ payload: `from ${attempt}` }], open)
          if (attempt === 1) throw new Error('no')
        }
      }
    }
    const stop = queue.work(name, handler, { concurrency: 1, ...rarely })
    await queue.enqueue(name, [{ payload: 'first' }])
    await clock.advance(30 * seconds)
    deepStrictEqual(seen, ['first', 'first', 'from 2'])
    await stop()
  })
}
