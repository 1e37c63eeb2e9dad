import { type RunTest, runCases } from '@concordat/plugin-kit/testing'
import type { IdempotencyStore } from '../stored/store.ts'
import { careCases } from './store-contract/care-cases.ts'
import { claimCases } from './store-contract/claim-cases.ts'
import { clientCases } from './store-contract/client-cases.ts'
import { progressCases } from './store-contract/progress-cases.ts'
import { responseCases } from './store-contract/response-cases.ts'
import { type StoreContractOptions, sceneOf, storeContractOptions } from './store-contract/scene.ts'
import { transactionCases } from './store-contract/transaction-cases.ts'

/**
 * Registers tests of the guarantees of `IdempotencyStore`; each test uses its own keys. `create` returns a store for each test; the
 * store may contain records of earlier tests. The tests must run sequentially.
 */
export function idempotencyStoreContract(
  test: RunTest,
  create: () => IdempotencyStore | Promise<IdempotencyStore>,
  options: StoreContractOptions = {}
): void {
  const { createSecond, pass, transact } = storeContractOptions.read(options)
  const begin = async () => {
    const store = await create()
    return sceneOf(store, await createSecond(store), pass)
  }
  runCases(test, { ...claimCases, ...responseCases, ...progressCases, ...clientCases, ...careCases }, begin)
  if (transact) runCases(test, transactionCases, async () => ({ scene: await begin(), transact }))
}
