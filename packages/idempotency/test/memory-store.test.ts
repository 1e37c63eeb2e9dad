import { type Claim, type IdempotencyStore, memoryIdempotencyStore } from '@concordat/idempotency'
import { idempotencyStoreContract } from '@concordat/idempotency/testing'
import type { RequestTransaction } from '@concordat/plugin-kit/wiring'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { stoppedTime } from '@concordat/test-harness/elapsed-time'
import t from 'tap'

t.test('the memory store passes the store contract', async (t) => {
  const clock = stoppedTime(t)
  const pass = (milliseconds: number) => (clock.now += milliseconds)
  idempotencyStoreContract(casesOf(t), () => memoryIdempotencyStore(), { pass })
})

/** A transaction that shows that the contract can be fulfilled: it writes at COMMIT and releases its claims at ROLLBACK. */
class Transaction implements RequestTransaction {
  readonly claims: Claim[] = []
  readonly writes: (() => unknown)[] = []

  beforeCommit(): void {}
}

function transactional(store: IdempotencyStore): IdempotencyStore {
  const open = new Map<Claim, Transaction>()
  return {
    ...store,
    guarantees: { shared: false, transactional: true },
    async begin(key, fingerprint, terms) {
      if (terms.signal?.aborted) return { state: 'busy', leaseMs: 1000 }
      const outcome = await store.begin(key, fingerprint, terms)
      if (outcome.state === 'claimed' && terms.transaction) {
        open.set(outcome.claim, terms.transaction as Transaction)
        ;(terms.transaction as Transaction).claims.push(outcome.claim)
      }
      return outcome
    },
    complete(claim, ...received) {
      const transaction = open.get(claim)
      if (transaction === undefined) return store.complete(claim, ...received)
      transaction.writes.push(() => store.complete(claim, ...received))
      return 'stored'
    },
    async release(claim) {
      const transaction = open.get(claim)
      if (transaction === undefined) return store.release(claim)
      transaction.writes.push(() => store.release(claim))
      return 'released'
    }
  }
}

t.test('a transactional store can pass all transaction cases of the contract', async (t) => {
  const clock = stoppedTime(t)
  const pass = (milliseconds: number) => (clock.now += milliseconds)
  const memory = memoryIdempotencyStore()
  idempotencyStoreContract(casesOf(t), () => transactional(memory), {
    pass,
    async transact(work) {
      const transaction = new Transaction()
      const rollBack = async () => {
        for (const claim of transaction.claims) await memory.release(claim)
      }
      try {
        if ((await work(transaction)) === 'rollback') return await rollBack()
      } catch (error) {
        await rollBack()
        throw error
      }
      for (const write of transaction.writes) await write()
    }
  })
})
