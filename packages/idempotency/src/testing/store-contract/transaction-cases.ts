import { ok, rejects, strictEqual } from 'node:assert/strict'
import type { ContractCases } from '@concordat/plugin-kit/testing'
import type { RequestTransaction } from '@concordat/plugin-kit/wiring'
import { digestOf, expectResponse, expectState, long, otherFingerprint, response, type Scene } from './scene.ts'

type Ending = 'commit' | 'rollback'
type Transact = (work: (transaction: RequestTransaction) => Promise<Ending>) => Promise<unknown>

/** Cases for a store that can claim inside a transaction. */
export const transactionCases: ContractCases<{ readonly scene: Scene; readonly transact: Transact }> = {
  'in a transaction: claim and response are visible after COMMIT': async ({ scene, transact }) => {
    await transact(async (transaction) => {
      const claim = await scene.claim({ transaction })
      strictEqual(claim.attempt, 1)
      strictEqual(await scene.store.complete(claim, response, long), 'stored')
      return 'commit'
    })
    await expectResponse(scene, response)
    await expectResponse(scene, response, { by: scene.second })
    await expectState(scene, 'mismatch', { fingerprint: otherFingerprint })
  },
  'in a transaction: after ROLLBACK the key is free, also for another request': async ({ scene, transact }) => {
    await transact(async (transaction) => {
      await scene.store.complete(await scene.claim({ transaction }), response, long)
      return 'rollback'
    })
    strictEqual((await scene.claim({ fingerprint: otherFingerprint })).attempt, 1)
  },
  'in a transaction: until COMMIT the key is busy for all other callers, which do not wait': async ({ scene, transact }) => {
    await transact(async (transaction) => {
      const claim = await scene.claim({ transaction })
      await scene.store.complete(claim, response, long)
      await expectState(scene, 'busy', { by: scene.second })
      await transact(async (other) => {
        await expectState(scene, 'busy', { transaction: other })
        return 'commit'
      })
      return 'commit'
    })
    await expectResponse(scene, response)
  },
  'in a transaction: exactly one of many concurrent callers claims': async ({ scene, transact }) => {
    const states: string[] = []
    const begun = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
    await Promise.all(
      begun.map(({ resolve }) =>
        transact(async (transaction) => {
          const outcome = await scene.begin({ transaction })
          states.push(outcome.state)
          resolve()
          if (outcome.state !== 'claimed') return 'commit'
          await Promise.all(begun.map(({ promise }) => promise))
          await scene.store.complete(outcome.claim, response, long)
          return 'commit'
        })
      )
    )
    strictEqual(states.sort().join(' '), 'busy busy busy busy claimed')
    await expectResponse(scene, response)
  },
  'in a transaction: a completed key returns its response, and the transaction can call begin again': async ({ scene, transact }) => {
    await scene.store.complete(await scene.claim(), response, long)
    await transact(async (transaction) => {
      await expectResponse(scene, response, { transaction })
      await expectResponse(scene, response, { transaction })
      return 'commit'
    })
  },
  'in a transaction: a caller that got busy can claim the key later': async ({ scene, transact }) => {
    const claim = await scene.claim()
    await transact(async (transaction) => {
      await expectState(scene, 'busy', { transaction })
      await scene.store.release(claim)
      await scene.store.complete(await scene.claim({ transaction }), response, long)
      return 'commit'
    })
    await expectResponse(scene, response)
  },
  'in a transaction: another request with the key gets mismatch': async ({ scene, transact }) => {
    await scene.store.complete(await scene.claim(), response, long)
    await transact(async (transaction) => {
      await expectState(scene, 'mismatch', { transaction, fingerprint: otherFingerprint })
      return 'commit'
    })
    await expectResponse(scene, response)
  },
  'in a transaction: a released key is free after COMMIT': async ({ scene, transact }) => {
    await transact(async (transaction) => {
      strictEqual(await scene.store.release(await scene.claim({ transaction })), 'released')
      return 'commit'
    })
    strictEqual((await scene.claim({ fingerprint: otherFingerprint })).attempt, 1)
  },
  'in a transaction: an expired record does not exist': async ({ scene, transact }) => {
    await scene.store.complete(await scene.claim(), response, 20)
    await scene.pass(40)
    await transact(async (transaction) => {
      strictEqual((await scene.claim({ transaction, fingerprint: otherFingerprint })).attempt, 1)
      return 'rollback'
    })
  },
  'in a transaction: the claim of a lost owner is taken over with a higher token': async ({ scene, transact }) => {
    const first = await scene.lose()
    await transact(async (transaction) => {
      const claim = await scene.claim({ transaction })
      strictEqual(claim.attempt, 2)
      ok(claim.token > first.token)
      strictEqual(await scene.store.complete(claim, response, long), 'stored')
      return 'commit'
    })
    strictEqual(await scene.store.complete(first, { ...response, body: 'late' }, long), 'lost')
    await expectResponse(scene, response)
  },
  'in a transaction: the key of a lost owner is abandoned when takeover is not allowed': async ({ scene, transact }) => {
    await scene.lose()
    await transact(async (transaction) => {
      await expectState(scene, 'abandoned', { transaction, takesOver: false })
      return 'commit'
    })
  },
  'in a transaction: a caller that no longer waits does not claim': async ({ scene, transact }) => {
    await transact(async (transaction) => {
      await expectState(scene, 'busy', { transaction, signal: AbortSignal.abort() })
      return 'commit'
    })
    strictEqual((await scene.claim({ fingerprint: otherFingerprint })).attempt, 1)
  },
  'in a transaction: a client that has reached the limit gets exceeded, and what is rolled back does not count': async ({
    scene,
    transact
  }) => {
    const own = scene.another({ client: digestOf(`a client ${scene.key}`), maxClientBytes: 150_000 })
    const large = { ...response, body: Buffer.alloc(100_000, 'x') }
    for (const ending of ['rollback', 'rollback', 'commit', 'commit'] as const) {
      await transact(async (transaction) => {
        await own.store.complete(await own.another().claim({ transaction }), large, long)
        return ending
      })
    }
    await transact(async (transaction) => {
      await expectState(own.another(), 'exceeded', { transaction })
      return 'commit'
    })
    await expectState(own.another(), 'exceeded', { by: own.second })
  },
  'in a transaction: an owner that throws leaves the key free': async ({ scene, transact }) => {
    await rejects(
      transact(async (transaction) => {
        await scene.claim({ transaction })
        throw new Error('The handler failed.')
      }),
      /The handler failed/
    )
    strictEqual((await scene.claim()).attempt, 1)
  }
}
