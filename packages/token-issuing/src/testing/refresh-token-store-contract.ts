import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { RunTest } from '@concordat/plugin-kit/testing'
import type { RefreshFamily, RefreshTokenStore, RefreshTokenUse } from '../refresh-token-store.ts'

const hour = 3_600_000
const grace = 10_000

/**
 * Tests an implementation of {@link RefreshTokenStore}. `create` returns a store for each test; it may contain records of
 * earlier tests. With `createSecond`, a second connection to the same records is raced against the first.
 */
export function refreshTokenStoreContract(
  test: RunTest,
  create: () => RefreshTokenStore | Promise<RefreshTokenStore>,
  createSecond: (first: RefreshTokenStore) => RefreshTokenStore | Promise<RefreshTokenStore> = (first) => first
): void {
  const start = Date.now()

  test('replaces the newest token by its successor', async () => {
    const { store, family, use } = await begun()
    deepStrictEqual(await store.use(use('a', 'b', 0)), { outcome: 'rotated', family, newest: 'b' })
    deepStrictEqual(await store.use(use('b', 'c', 1)), { outcome: 'rotated', family, newest: 'c' })
  })

  test('returns a family without a client, or with long names, as it was stored', async () => {
    const bare = await begun({ clientId: undefined, subject: `${'ñ'.repeat(199)} "'\\` })
    deepStrictEqual(await bare.store.use({ ...bare.use('a', 'b', 0), clientId: undefined }), {
      outcome: 'rotated',
      family: bare.family,
      newest: 'b'
    })
  })

  test('returns the newest secret and changes nothing when a token is repeated within the grace period', async () => {
    const { store, family, use } = await begun()
    await store.use(use('a', 'b', 0))
    deepStrictEqual(await store.use(use('a', 'other', grace - 1)), { outcome: 'repeated', family, newest: 'b' })
    deepStrictEqual(await store.use(use('b', 'c', grace)), { outcome: 'rotated', family, newest: 'c' })
  })

  test('revokes the family with all its tokens when a token is repeated after the grace period', async () => {
    const { store, family, use } = await begun()
    await store.use(use('a', 'b', 0))
    deepStrictEqual(await store.use(use('a', 'x', grace)), { outcome: 'reused', family })
    deepStrictEqual(await store.use(use('a', 'x', grace)), { outcome: 'revoked', family })
    deepStrictEqual(await store.use(use('b', 'x', grace)), { outcome: 'revoked', family })
  })

  test('revokes the family at the first repetition without a grace period', async () => {
    const { store, family, use } = await begun()
    await store.use({ ...use('a', 'b', 0), reuseGraceMs: 0 })
    deepStrictEqual(await store.use({ ...use('a', 'x', 0), reuseGraceMs: 0 }), { outcome: 'reused', family })
  })

  test('revokes the family for a token older than the last replaced one, even within the grace period', async () => {
    const { store, family, use } = await begun()
    await store.use(use('a', 'b', 0))
    await store.use(use('b', 'c', 1))
    deepStrictEqual(await store.use(use('a', 'x', 2)), { outcome: 'reused', family })
    deepStrictEqual(await store.use(use('c', 'x', 3)), { outcome: 'revoked', family })
  })

  test('revokes the family when another client sends a token', async () => {
    for (const [own, other] of [
      ['kiosk', 'thief'],
      ['kiosk', undefined],
      ['kiosk', ''],
      [undefined, 'thief']
    ] as const) {
      const { store, family, use } = await begun({ clientId: own })
      deepStrictEqual(await store.use({ ...use('a', 'x', 0), clientId: other }), { outcome: 'reused', family })
      deepStrictEqual(await store.use(use('a', 'x', 0)), { outcome: 'revoked', family })
    }
  })

  test('expires an idle family; a rotation restarts the idle time, a repetition does not', async () => {
    const { store, family, use } = await begun()
    await store.use(use('a', 'b', hour - 1))
    await store.use(use('a', 'x', hour + 1))
    deepStrictEqual(await store.use(use('b', 'x', 2 * hour - 1)), { outcome: 'expired', family })
    const other = await begun()
    deepStrictEqual(await other.store.use(other.use('a', 'b', hour)), { outcome: 'expired', family: other.family })
    deepStrictEqual((await other.store.use(other.use('a', 'b', hour - 1))).outcome, 'rotated')
  })

  test('expires a family at its maximum lifetime, however often it was used', async () => {
    const { store, use } = await begun({ expiresAt: start + 2 * hour })
    strictEqual((await store.use(use('a', 'b', hour - 1))).outcome, 'rotated')
    strictEqual((await store.use(use('b', 'c', 2 * hour - 2))).outcome, 'rotated')
    const { outcome } = await store.use(use('c', 'd', 2 * hour))
    strictEqual(outcome === 'expired' || outcome === 'unknown', true, outcome)
  })

  test('returns unknown for an unknown handle and changes nothing', async () => {
    const store = await create()
    const use = { secret: 'a', successor: 'b', now: start, reuseGraceMs: grace, idleMs: hour, clientId: undefined }
    deepStrictEqual(await store.use({ ...use, handle: 'nobody' }), { outcome: 'unknown' })
    strictEqual(await store.revokeHandle('nobody'), undefined)
    await store.revokeFamily('nobody')
    await store.revokeSubject('nobody')
  })

  test('rejects a handle or an id that already exists', async () => {
    const { store, family, use } = await begun()
    await rejects(store.begin({ ...family, id: randomUUID() }, 'z', start + hour))
    await rejects(store.begin({ ...family, handle: randomUUID() }, 'z', start + hour))
    strictEqual((await store.use(use('a', 'b', 0))).outcome, 'rotated')
  })

  test('revokes a family by its handle, its id or its subject, and no other family', async () => {
    const store = await create()
    const sharing = (subject: string = randomUUID()) => begun({ subject }, store)
    const subject = 'many sessions'
    const [byHandle, byId, one, two] = await Promise.all([sharing(), sharing(), sharing(subject), sharing(subject)])
    const others = await Promise.all(['many', 'many sessions 2', 'Many sessions', 'many_sessions', '%', undefined].map(sharing))
    deepStrictEqual(await store.revokeHandle(byHandle.family.handle), byHandle.family)
    deepStrictEqual(await store.revokeHandle(byHandle.family.handle), byHandle.family)
    await store.revokeFamily(byId.family.id)
    await store.revokeSubject(subject)
    await store.revokeSubject(subject)
    for (const { family, use } of [byHandle, byId, one, two]) {
      deepStrictEqual(await store.use(use('a', 'b', 0)), { outcome: 'revoked', family })
    }
    for (const { use } of others) strictEqual((await store.use(use('a', 'b', 0))).outcome, 'rotated')
  })

  test('returns revoked for a revoked family also when it has expired', async () => {
    const { store, family, use } = await begun()
    await store.revokeFamily(family.id)
    deepStrictEqual(await store.use(use('a', 'b', hour)), { outcome: 'revoked', family })
  })

  test('revokes all families, but not those that begin later', async () => {
    const { store, family, use } = await begun()
    await store.revokeAll()
    deepStrictEqual(await store.use(use('a', 'b', 0)), { outcome: 'revoked', family })
    const later = { ...family, id: randomUUID(), handle: randomUUID() }
    await store.begin(later, 'a', start + hour)
    strictEqual((await store.use({ ...use('a', 'b', 0), handle: later.handle })).outcome, 'rotated')
  })

  test('rotates exactly one of many concurrent uses on two connections and returns the same secret to the others', async () => {
    const { store, use } = await begun()
    const second = await createSecond(store)
    const uses = Array.from({ length: 20 }, (_, n) => (n % 2 ? second : store).use(use('a', `successor ${n}`, n)))
    const outcomes = await Promise.all(uses)
    strictEqual(outcomes.filter(({ outcome }) => outcome === 'rotated').length, 1)
    strictEqual(outcomes.filter(({ outcome }) => outcome === 'repeated').length, 19)
    strictEqual(new Set(outcomes.map((given) => 'newest' in given && given.newest)).size, 1)
  })

  test('returns reused for exactly one of many concurrent late uses', async () => {
    const { store, use } = await begun()
    const second = await createSecond(store)
    await store.use(use('a', 'b', 0))
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? second : store).use(use('a', 'x', grace + n))))
    strictEqual(outcomes.filter(({ outcome }) => outcome === 'reused').length, 1)
    strictEqual(outcomes.filter(({ outcome }) => outcome === 'revoked').length, 19)
  })

  test('allows no use after a concurrent revocation has resolved', async () => {
    const { store, family, use } = await begun()
    const second = await createSecond(store)
    const uses = Array.from({ length: 10 }, (_, n) => second.use(use('a', 'b', n)))
    await store.revokeFamily(family.id)
    strictEqual((await second.use(use('a', 'b', 1))).outcome, 'revoked')
    strictEqual((await second.use(use('b', 'c', 1))).outcome, 'revoked')
    await Promise.all(uses)
  })

  async function begun(input: Partial<RefreshFamily> = {}, given?: RefreshTokenStore) {
    const store = given ?? (await create())
    const family: RefreshFamily = {
      id: randomUUID(),
      handle: randomUUID(),
      subject: randomUUID(),
      beganAt: start,
      expiresAt: start + 24 * hour,
      clientId: 'kiosk',
      ...input
    }
    if (family.clientId === undefined) delete (family as { clientId?: string | undefined }).clientId
    await store.begin(family, 'a', start + hour)
    const use = (secret: string, successor: string, after: number): RefreshTokenUse => ({
      handle: family.handle,
      secret,
      successor,
      clientId: family.clientId,
      now: start + after,
      reuseGraceMs: grace,
      idleMs: hour
    })
    return { store, family, use }
  }
}
