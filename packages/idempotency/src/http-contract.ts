import { answerCases } from './http-contract/answer-cases.ts'
import { keyCases } from './http-contract/key-cases.ts'
import { leaseAnswerCases } from './http-contract/lease-answer-cases.ts'
import { lostOwnerCases } from './http-contract/lost-owner-cases.ts'
import { leaseOutageCases, outageCases } from './http-contract/outage-cases.ts'
import { type HttpContractOptions, httpSceneOf } from './http-contract/service.ts'
import type { RunTest } from './store-contract/scene.ts'

/**
 * Registers tests, over HTTP, of what the clients of a service see when its keys are in one store: the rows of `docs/idempotency.md`, by
 * number. Each test uses new keys.
 */
export function idempotencyHttpContract(test: RunTest, options: HttpContractOptions): void {
  const leaseCases = options.isTransactional === true ? {} : { ...lostOwnerCases, ...leaseOutageCases, ...leaseAnswerCases }
  const cases = { ...keyCases, ...answerCases, ...outageCases, ...leaseCases }
  for (const [title, check] of Object.entries(cases)) {
    test(title, async () => {
      const scene = httpSceneOf(options)
      try {
        await check(scene)
      } finally {
        await scene.close()
      }
    })
  }
}
