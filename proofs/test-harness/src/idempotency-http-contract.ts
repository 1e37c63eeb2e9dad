import type { RunTest } from '@concordat/plugin-kit/testing'
import { keyCases } from './idempotency-http-contract/key-cases.ts'
import { leaseResponseCases } from './idempotency-http-contract/lease-response-cases.ts'
import { lostOwnerCases } from './idempotency-http-contract/lost-owner-cases.ts'
import { leaseOutageCases, outageCases } from './idempotency-http-contract/outage-cases.ts'
import { progressCases } from './idempotency-http-contract/progress-cases.ts'
import { responseCases } from './idempotency-http-contract/response-cases.ts'
import { type HttpContractOptions, httpSceneOf, type ServiceUnderTest } from './idempotency-http-contract/service.ts'
import { storageCases, transactionStorageCases } from './idempotency-http-contract/storage-cases.ts'

/**
 * Registers tests of the behavior that clients see over HTTP if a service uses the given store, by the row numbers of `docs/idempotency.md`.
 * `create` returns a new server and the store, or another connection to it; a test calls it once for each service that it needs. The store may
 * contain records of earlier tests, because each test uses new keys; it is closed with its server.
 */
export function idempotencyHttpContract(
  test: RunTest,
  create: () => ServiceUnderTest | Promise<ServiceUnderTest>,
  options: HttpContractOptions = {}
): void {
  const ownCases =
    options.isTransactional === true ? transactionStorageCases : { ...lostOwnerCases, ...leaseOutageCases, ...leaseResponseCases }
  const cases = { ...keyCases, ...responseCases, ...progressCases, ...storageCases, ...outageCases, ...ownCases }
  for (const [title, check] of Object.entries(cases)) {
    test(title, async () => {
      const scene = httpSceneOf(create, options)
      try {
        await check(scene)
      } finally {
        await scene.close()
      }
    })
  }
}
