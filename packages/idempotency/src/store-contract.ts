import type { IdempotencyStore } from './store.ts'
import { answerCases } from './store-contract/answer-cases.ts'
import { careCases } from './store-contract/care-cases.ts'
import { claimCases } from './store-contract/claim-cases.ts'
import { type RunTest, type StoreContractOptions, sceneOf } from './store-contract/scene.ts'
import { transactionCases } from './store-contract/transaction-cases.ts'

/**
 * Registers tests of the guarantees of {@link IdempotencyStore}; each test uses its own keys. `create` returns a store for each test; the
 * store may contain records of earlier tests. The tests must run sequentially.
 */
export function idempotencyStoreContract(
  test: RunTest,
  create: () => IdempotencyStore | Promise<IdempotencyStore>,
  { createSecond = (first) => first, pass, transact }: StoreContractOptions = {}
): void {
  const sceneFor = async () => {
    const store = await create()
    return sceneOf(store, await createSecond(store), pass)
  }
  for (const [title, check] of Object.entries({ ...claimCases, ...answerCases, ...careCases })) {
    test(title, async () => check(await sceneFor()))
  }
  if (transact === undefined) return
  for (const [title, check] of Object.entries(transactionCases)) test(title, async () => check(await sceneFor(), transact))
}
