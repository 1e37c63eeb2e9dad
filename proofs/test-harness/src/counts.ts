import type { RateLimitStore } from '@concordat/rate-limiting'
import { rateLimitStoreContract } from '@concordat/rate-limiting/testing'
import type { LoginAttemptStore } from '@concordat/token-issuing'
import { loginAttemptStoreContract } from '@concordat/token-issuing/testing'
import type { Test } from 'tap'
import { casesOf } from './contract-cases.ts'

/** Combines two stores on the same counts and calls them alternately, like two processes. */
export function inTurn(one: RateLimitStore, two: RateLimitStore): RateLimitStore {
  let calls = 0
  return { add: (...request) => ((calls += 1) % 2 === 0 ? one : two).add(...request) }
}

/** Tests a rate limit store against its contract. */
export function testRateLimits(t: Test, store: RateLimitStore): void {
  rateLimitStoreContract(casesOf(t), () => store)
}

/** Tests login attempt stores on the same counts against their contract. Without a second store, only the first is used. */
export function testLoginAttempts(t: Test, one: LoginAttemptStore, two: LoginAttemptStore = one): void {
  let calls = 0
  loginAttemptStoreContract(casesOf(t), () => ({
    take: (...request) => ((calls += 1) % 2 === 0 ? one : two).take(...request),
    giveBack: (...request) => two.giveBack(...request)
  }))
}
