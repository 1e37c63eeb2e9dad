import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import type { RunTest } from '@concordat/plugin-kit/testing'
import { createApiKey, isKeyOf } from '../api-key.ts'
import type { ApiKeyStore } from '../api-key-store.ts'

/** Tests an implementation of {@link ApiKeyStore}. `create` returns an empty store for each test. */
export function apiKeyStoreContract(test: RunTest, create: () => ApiKeyStore | Promise<ApiKeyStore>): void {
  test('returns a record as it was added, for its exact id only', async () => {
    const store = await create()
    const { key, record } = createApiKey({ client: 'kiosk', permissions: ['products:read'], tenant: 'acme', expiresAt: 4_102_444_800_000 })
    const other = { ...createApiKey({ client: 'lobby', permissions: [] }).record, id: 'aBcD-_19' }
    await store.add(record)
    await store.add(other)
    deepStrictEqual(await store.find(record.id), record)
    strictEqual((await store.find(other.id))?.client, 'lobby')
    for (const id of ['AbCd-_19', 'aBcD-_1', 'aBcD-%', '']) strictEqual(await store.find(id), undefined)
    strictEqual(isKeyOf(key, record, Date.now()), true)
  })

  test('returns a record without an expiry and a tenant without them', async () => {
    const store = await create()
    const { key, record } = createApiKey({ client: 'kiosk', permissions: [] })
    await store.add(record)
    const found = await store.find(record.id)
    ok(found)
    strictEqual(found.expiresAt, undefined)
    strictEqual(found.tenant, undefined)
    strictEqual(isKeyOf(key, found, Date.now()), true)
  })

  test('rejects an id that already exists and keeps the first record', async () => {
    const store = await create()
    const { record } = createApiKey({ client: 'kiosk', permissions: ['products:read'] })
    await store.add(record)
    await rejects(store.add({ ...record, client: 'thief' }))
    strictEqual((await store.find(record.id))?.client, 'kiosk')
  })

  test('stores two keys of one client and removes one of them', async () => {
    const store = await create()
    const [old, next] = [createApiKey({ client: 'kiosk', permissions: [] }), createApiKey({ client: 'kiosk', permissions: [] })]
    await Promise.all([store.add(old.record), store.add(next.record)])
    await store.remove(old.record.id)
    await store.remove(old.record.id)
    strictEqual(await store.find(old.record.id), undefined)
    strictEqual((await store.find(next.record.id))?.client, 'kiosk')
  })

  test('stores a copy, which later changes by the caller do not affect', async () => {
    const store = await create()
    const { record } = createApiKey({ client: 'kiosk', permissions: [] })
    const mine = { ...record, permissions: ['products:read'] }
    await store.add(mine)
    mine.permissions.push('products:delete')
    deepStrictEqual((await store.find(record.id))?.permissions, ['products:read'])
  })
}
