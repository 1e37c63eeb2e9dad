import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import type { RateLimitStore } from './store.ts'

/** One requirement on every store. `check` rejects when the store violates it. The store may already contain other keys. */
export interface StoreCheck {
  readonly title: string
  readonly check: (store: RateLimitStore) => Promise<void>
}

/**
 * The requirements on every {@link RateLimitStore}, for the tests of an implementation. Run each with any test runner, for example
 * `for (const { title, check } of storeContract) test(title, () => check(store))`.
 */
export const storeContract: readonly StoreCheck[] = [
  {
    title: 'counts a key without other keys',
    async check(store) {
      const [one, other] = [freshKey(), freshKey()]
      for (const count of [1, 2, 3]) assert.equal((await store.add(one, 1, 10, 60_000)).count, count)
      assert.equal((await store.add(other, 4, 10, 60_000)).count, 4)
      assert.equal((await store.add(one, 1, 10, 60_000)).count, 4)
    }
  },
  {
    title: 'returns the sum that exceeds the limit and does not count it',
    async check(store) {
      const key = freshKey()
      await store.add(key, 8, 10, 60_000)
      assert.equal((await store.add(key, 5, 10, 60_000)).count, 13)
      assert.equal((await store.add(key, 2, 10, 60_000)).count, 10)
      assert.equal((await store.add(key, 1, 10, 60_000)).count, 11)
      assert.equal((await store.add(key, 1, 10, 60_000)).count, 11)
    }
  },
  {
    title: 'opens the window for a cost above the limit and does not count it',
    async check(store) {
      const key = freshKey()
      const { count, resetMilliseconds } = await store.add(key, 11, 10, 60_000)
      assert.equal(count, 11)
      assert.ok(resetMilliseconds > 0 && resetMilliseconds <= 60_000)
      assert.equal((await store.add(key, 10, 10, 60_000)).count, 10)
    }
  },
  {
    title: 'returns a distinct count to each of many concurrent calls and allows as many as fit into the limit',
    async check(store) {
      const key = freshKey()
      const counts = await Promise.all(Array.from({ length: 50 }, async () => store.add(key, 3, 100, 60_000)))
      const passed = counts.map(({ count }) => count).filter((count) => count <= 100)
      assert.deepEqual(
        passed.toSorted((a, b) => a - b),
        Array.from({ length: 33 }, (_, index) => (index + 1) * 3)
      )
    }
  },
  {
    title: 'does not count rejected calls when many compete for the last place',
    async check(store) {
      const key = freshKey()
      const counts = await Promise.all(Array.from({ length: 50 }, async () => store.add(key, 1, 1, 60_000)))
      assert.equal(counts.filter(({ count }) => count === 1).length, 1)
      assert.equal((await store.add(key, 1, 2, 60_000)).count, 2)
    }
  },
  {
    title: 'ends a window at its stated time, whatever was rejected in it, and starts at 0 again',
    async check(store) {
      const key = freshKey()
      const { resetMilliseconds } = await store.add(key, 2, 2, 1000)
      assert.ok(resetMilliseconds > 0 && resetMilliseconds <= 1000)
      await wait(200)
      const refused = await store.add(key, 1, 2, 1000)
      assert.equal(refused.count, 3)
      assert.ok(refused.resetMilliseconds > 0 && refused.resetMilliseconds <= 805)
      await wait(refused.resetMilliseconds + 5)
      const next = await store.add(key, 1, 2, 1000)
      assert.equal(next.count, 1)
      assert.ok(next.resetMilliseconds > 805 && next.resetMilliseconds <= 1000)
    }
  },
  {
    title: 'accepts any string as a key',
    async check(store) {
      for (const text of ['__proto__', 'constructor', '{braces}', 'a b\n\u0000', 'ключ', '"', '*']) {
        const key = `${freshKey()}${text}`
        assert.equal((await store.add(key, 1, 10, 60_000)).count, 1)
        assert.equal((await store.add(key, 1, 10, 60_000)).count, 2)
      }
    }
  }
]

function freshKey() {
  return `contract:${crypto.randomUUID()}:`
}
