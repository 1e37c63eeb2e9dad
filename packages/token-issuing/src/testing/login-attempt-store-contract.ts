import { strictEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { RunTest } from '@concordat/plugin-kit/testing'
import type { LoginAttemptStore } from '../login-attempt-store.ts'

/** Tests an implementation of {@link LoginAttemptStore}. `create` returns a store for each test. */
export function loginAttemptStoreContract(test: RunTest, create: () => LoginAttemptStore | Promise<LoginAttemptStore>): void {
  const start = Date.now()
  const limit = { limit: 3, windowMs: 900_000 }

  test('allows as many attempts as the limit, and forgives each after its share of the window', async () => {
    const store = await create()
    const key = randomUUID()
    for (let n = 0; n < 3; n += 1) strictEqual(await store.take(key, limit, start), 0)
    strictEqual(await store.take(key, limit, start), 300_000)
    strictEqual(await store.take(key, limit, start + 100_000), 200_000)
    strictEqual(await store.take(key, limit, start + 300_000), 0)
    strictEqual(await store.take(key, limit, start + 300_000), 300_000)
    strictEqual(await store.take(randomUUID(), limit, start), 0)
  })

  test('does not count an attempt that was given back', async () => {
    const store = await create()
    const key = randomUUID()
    for (let n = 0; n < 10; n += 1) {
      strictEqual(await store.take(key, limit, start), 0)
      await store.giveBack(key, limit)
    }
    await store.giveBack(randomUUID(), limit)
  })

  test('allows no more than the limit after an attempt was given back too often', async () => {
    const store = await create()
    const key = randomUUID()
    await store.take(key, limit, start)
    for (let n = 0; n < 5; n += 1) await store.giveBack(key, limit)
    for (let n = 0; n < 3; n += 1) strictEqual(await store.take(key, limit, start), 0)
    strictEqual((await store.take(key, limit, start)) > 0, true)
  })

  test('counts concurrent attempts one by one', async () => {
    const store = await create()
    const key = randomUUID()
    const waits = await Promise.all(Array.from({ length: 20 }, () => store.take(key, limit, start)))
    strictEqual(waits.filter((wait) => wait === 0).length, 3)
  })
}
