import type { Create, RunTest } from './begin-contract.ts'
import { contractOfEnding } from './ending-contract.ts'
import { contractOfRunning } from './running-contract.ts'
import { contractOfTrying } from './trying-contract.ts'

/**
 * Tests whether an engine keeps the promises of `WorkQueue`. `create` is asked in each test and may answer the same queue each time; every
 * test defines queues of its own in it.
 */
export function workQueueContract(test: RunTest, create: Create): void {
  contractOfTrying(test, create)
  contractOfRunning(test, create)
  contractOfEnding(test, create)
}
