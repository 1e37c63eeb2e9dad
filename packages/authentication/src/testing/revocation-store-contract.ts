import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { RunTest } from '@concordat/plugin-kit/testing'
import type { Revocation, RevocationStore } from '../revocation-store.ts'

const hour = 3_600_000

/**
 * Tests an implementation of {@link RevocationStore}. `create` returns a store for each test; it may contain records of
 * earlier tests. With `createSecond`, a second connection to the same records listens to the first.
 */
export function revocationStoreContract(
  test: RunTest,
  create: () => RevocationStore | Promise<RevocationStore>,
  createSecond: (first: RevocationStore) => RevocationStore | Promise<RevocationStore> = (first) => first
): void {
  const start = Date.now()
  const session = (): Revocation => ({ kind: 'session', id: randomUUID(), until: start + hour })

  test('returns a revocation of each kind as it was stored', async () => {
    const store = await create()
    const all: Revocation[] = [
      { kind: 'token', id: randomUUID(), until: start + hour },
      session(),
      { kind: 'subject', id: `Ñandú ${randomUUID()}`, issuedBefore: start - 1, until: start + hour },
      { kind: 'everything', id: '', issuedBefore: start - 5, until: start + hour }
    ]
    for (const revocation of all) await store.revoke(revocation)
    const { revocations } = await store.read()
    for (const { kind, id } of all) strictEqual(revocations.filter((found) => found.kind === kind && found.id === id).length, 1)
    const ours = revocations.filter(({ kind, id }) => kind !== 'everything' && all.some((input) => input.id === id))
    deepStrictEqual(new Set(ours), new Set(all.slice(0, 3)))
  })

  test('returns what was revoked after a cursor, and does not return known revocations forever', async () => {
    const store = await create()
    const [first, second, third] = [session(), session(), session()]
    await store.revoke(first)
    const one = await store.read()
    strictEqual(has(one.revocations, first), true)
    await store.revoke(second)
    await store.revoke(third)
    const two = await store.read(one.cursor)
    deepStrictEqual([has(two.revocations, second), has(two.revocations, third)], [true, true])
    // An open transaction may hold the cursor back, but not forever.
    let page = two
    do page = await store.read(page.cursor)
    while (has(page.revocations, first) && (await delay(20, true)))
    strictEqual(has((await store.read()).revocations, first), true)
  })

  test('stores the later times of two revocations of one subject, in any order', async () => {
    const store = await create()
    const subject = { kind: 'subject', id: randomUUID(), issuedBefore: start, until: start + hour } as const
    await store.revoke(subject)
    const { cursor } = await store.read()
    await store.revoke({ ...subject, issuedBefore: start - 10, until: start + 2 * hour })
    await store.revoke({ ...subject, issuedBefore: start + 10, until: start + 1 })
    const found = (await store.read(cursor)).revocations.filter(({ id }) => id === subject.id)
    deepStrictEqual(found, [{ ...subject, issuedBefore: start + 10, until: start + 2 * hour }])
  })

  test('does not return an expired revocation', async () => {
    const store = await create()
    const over = { ...session(), until: Date.now() - 1 }
    await store.revoke(over)
    strictEqual(has((await store.read()).revocations, over), false)
  })

  test('returns everything for an unknown cursor', async () => {
    const store = await create()
    const revocation = session()
    await store.revoke(revocation)
    strictEqual(has((await store.read('nonsense')).revocations, revocation), true)
  })

  test('returns all concurrent revocations of two connections, without a gap', async () => {
    const store = await create()
    const second = await createSecond(store)
    let { cursor } = await store.read()
    const wanted = Array.from({ length: 40 }, session)
    const seen = new Set<string>()
    let writing = true
    const written = Promise.all(wanted.map((revocation, n) => (n % 2 ? second : store).revoke(revocation))).then(() => (writing = false))
    for (let last = false; !last; ) {
      last = !writing
      const page = await store.read(cursor)
      for (const { id } of page.revocations) seen.add(id)
      cursor = page.cursor
    }
    await written
    deepStrictEqual(
      wanted.filter(({ id }) => !seen.has(id)),
      []
    )
  })

  test('notifies a subscriber of a revocation by another connection, but not an ended subscription', async () => {
    const store = await create()
    const second = await createSecond(store)
    const woken = Promise.withResolvers<void>()
    let late = 0
    const ended = await second.subscribe(
      () => (late += 1),
      () => {}
    )
    await ended()
    const end = await second.subscribe(woken.resolve, () => woken.reject(new Error('The subscription was lost.')))
    const revocation = session()
    await store.revoke(revocation)
    await woken.promise
    strictEqual(has((await second.read()).revocations, revocation), true)
    strictEqual(late, 0)
    await end()
  })
}

function has(revocations: readonly Revocation[], { kind, id }: Revocation) {
  return revocations.some((found) => found.kind === kind && found.id === id)
}
