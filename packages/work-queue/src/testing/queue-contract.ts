import type { RunTest } from '@concordat/plugin-kit/testing'
import type { Create } from './contract-queue.ts'
import { contractOfEnding } from './ending-contract.ts'
import { contractOfRunning } from './running-contract.ts'
import { contractOfTrying } from './trying-contract.ts'

/**
 * Tests that an implementation conforms to `WorkQueue`. Each test calls `create`, which may return the same queue every time, because every
 * test defines its own queues in it.
 */
export function workQueueContract(test: RunTest, create: Create): void {
  contractOfTrying(test, create)
  contractOfRunning(test, create)
  contractOfEnding(test, create)
}
