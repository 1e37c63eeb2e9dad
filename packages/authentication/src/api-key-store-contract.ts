import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import { createApiKey, isKeyOf } from './api-key.ts'
import type { ApiKeyStore } from './api-key-store.ts'
import type { RunTest } from './refresh-token-store-contract.ts'

/** Tests whether a store keeps the promises of {@link ApiKeyStore}. `create` makes an empty one for each test. */
export function apiKeyStoreContract(test: RunTest, create: () => ApiKeyStore | Promise<ApiKeyStore>): void {
  test('a record is found as it was added, by its id only', async () => {
    const store = await create()
    const { key, record } = createApiKey({ client: 'kiosk', permissions: ['products:read'], expiresAt: 4_102_444_800_000 })
    const other = { ...createApiKey({ client: 'lobby', permissions: [] }).record, id: 'aBcD-_19' }
    await store.add(record)
    await store.add(other)
    deepStrictEqual(await store.find(record.id), record)
    strictEqual((await store.find(other.id))?.client, 'lobby')
    for (const id of ['AbCd-_19', 'aBcD-_1', 'aBcD-%', '']) strictEqual(await store.find(id), undefined)
    strictEqual(isKeyOf(key, record, Date.now()), true)
  })

  test('a record without an end is found without one', async () => {
    const store = await create()
    const { key, record } = createApiKey({ client: 'kiosk', permissions: [] })
    await store.add(record)
    const found = await store.find(record.id)
    ok(found)
    strictEqual(found.expiresAt, undefined)
    strictEqual(isKeyOf(key, found, Date.now()), true)
  })

  test('an id that is taken is not taken again', async () => {
    const store = await create()
    const { record } = createApiKey({ client: 'kiosk', permissions: ['products:read'] })
    await store.add(record)
    await rejects(store.add({ ...record, client: 'thief' }))
    strictEqual((await store.find(record.id))?.client, 'kiosk')
  })

  test('two keys may name one client, and one of them can be removed', async () => {
    const store = await create()
    const [old, next] = [createApiKey({ client: 'kiosk', permissions: [] }), createApiKey({ client: 'kiosk', permissions: [] })]
    await Promise.all([store.add(old.record), store.add(next.record)])
    await store.remove(old.record.id)
    await store.remove(old.record.id)
    strictEqual(await store.find(old.record.id), undefined)
    strictEqual((await store.find(next.record.id))?.client, 'kiosk')
  })

  test('a record that the caller changes later stays as it was added', async () => {
    const store = await create()
    const { record } = createApiKey({ client: 'kiosk', permissions: [] })
    const mine = { ...record, permissions: ['products:read'] }
    await store.add(mine)
    mine.permissions.push('products:delete')
    deepStrictEqual((await store.find(record.id))?.permissions, ['products:read'])
  })
}
