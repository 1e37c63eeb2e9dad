import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { type ContractCases, type RunTest, runCases } from '@concordat/plugin-kit/testing'
import type { RateLimitStore } from '../store.ts'

const cases: ContractCases<RateLimitStore> = {
  'counts a key without other keys': async (store) => {
    const [one, other] = [freshKey(), freshKey()]
    for (const count of [1, 2, 3]) assert.equal((await store.add(one, 1, 10, 60_000)).count, count)
    assert.equal((await store.add(other, 4, 10, 60_000)).count, 4)
    assert.equal((await store.add(one, 1, 10, 60_000)).count, 4)
  },
  'returns the sum that exceeds the limit and does not count it': async (store) => {
    const key = freshKey()
    await store.add(key, 8, 10, 60_000)
    assert.equal((await store.add(key, 5, 10, 60_000)).count, 13)
    assert.equal((await store.add(key, 2, 10, 60_000)).count, 10)
    assert.equal((await store.add(key, 1, 10, 60_000)).count, 11)
    assert.equal((await store.add(key, 1, 10, 60_000)).count, 11)
  },
  'opens the window for a cost above the limit and does not count it': async (store) => {
    const key = freshKey()
    const { count, resetMs } = await store.add(key, 11, 10, 60_000)
    assert.equal(count, 11)
    assert.ok(resetMs > 0 && resetMs <= 60_000)
    assert.equal((await store.add(key, 10, 10, 60_000)).count, 10)
  },
  'returns a distinct count to each of many concurrent calls and allows as many as fit into the limit': async (store) => {
    const key = freshKey()
    const counts = await Promise.all(Array.from({ length: 50 }, async () => store.add(key, 3, 100, 60_000)))
    const passed = counts.map(({ count }) => count).filter((count) => count <= 100)
    assert.deepEqual(
      passed.toSorted((a, b) => a - b),
      Array.from({ length: 33 }, (_, index) => (index + 1) * 3)
    )
  },
  'does not count rejected calls when many compete for the last place': async (store) => {
    const key = freshKey()
    const counts = await Promise.all(Array.from({ length: 50 }, async () => store.add(key, 1, 1, 60_000)))
    assert.equal(counts.filter(({ count }) => count === 1).length, 1)
    assert.equal((await store.add(key, 1, 2, 60_000)).count, 2)
  },
  'ends a window at its stated time, whatever was rejected in it, and starts at 0 again': async (store) => {
    const key = freshKey()
    const { resetMs } = await store.add(key, 2, 2, 1000)
    assert.ok(resetMs > 0 && resetMs <= 1000)
    // oxlint-disable-next-line suite/no-fixed-wait -- A store counts by its own clock.
    await wait(200)
    const refused = await store.add(key, 1, 2, 1000)
    assert.equal(refused.count, 3)
    assert.ok(refused.resetMs > 0 && refused.resetMs <= 805)
    await wait(refused.resetMs + 5)
    const next = await store.add(key, 1, 2, 1000)
    assert.equal(next.count, 1)
    assert.ok(next.resetMs > 805 && next.resetMs <= 1000)
  },
  'accepts any string as a key': async (store) => {
    for (const text of ['__proto__', 'constructor', '{braces}', 'a b\n\u0000', 'ключ', '"', '*']) {
      const key = `${freshKey()}${text}`
      assert.equal((await store.add(key, 1, 10, 60_000)).count, 1)
      assert.equal((await store.add(key, 1, 10, 60_000)).count, 2)
    }
  }
}

/**
 * Registers tests of the requirements that every `RateLimitStore` must meet. `create` returns a store for each test; the store may contain counts of
 * earlier tests.
 */
export function rateLimitStoreContract(test: RunTest, create: () => RateLimitStore | Promise<RateLimitStore>): void {
  runCases(test, cases, create)
}

function freshKey() {
  return `contract:${crypto.randomUUID()}:`
}
