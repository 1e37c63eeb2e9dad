import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { memoryRevocationStore, type Revocation, type RevocationStore, revocationFeed } from '@concordat/authentication'
import { turns, until } from '@concordat/test-harness/until'
import t, { type Test } from 'tap'
import { service } from './service.ts'

const hour = 3_600_000
const session = (id: string, until = Date.now() + hour): Revocation => ({ kind: 'session', id, until })
const holder = { sub: 'u1', iat: Math.floor(Date.now() / 1000) }
const ever = new Promise<never>(() => {})

/** A store whose connection can be cut: calls then never settle, like lost packets, or reject, like a closed socket. */
function cuttable(store = memoryRevocationStore()) {
  const ends = new Set<() => void>()
  const healed = Promise.withResolvers<void>()
  const line = { cut: undefined as 'silent' | 'closed' | 'hanging' | undefined, deaf: false, reads: 0, subscriptions: 0 }
  const through = <Result>(work: () => Promise<Result>): Promise<Result> =>
    line.cut === 'hanging'
      ? healed.promise.then(work)
      : line.cut === undefined
        ? work()
        : line.cut === 'silent'
          ? ever
          : Promise.reject(new Error('The connection is closed.'))
  const cutStore: RevocationStore = {
    revoke: (revocation) => through(() => store.revoke(revocation)),
    read: (cursor) => {
      line.reads += 1
      return through(() => store.read(cursor))
    },
    subscribe: (wake, lost) =>
      through(async () => {
        line.subscriptions += 1
        const end = await store.subscribe(() => void (line.deaf || wake()), lost)
        ends.add(lost)
        return end
      })
  }
  const loseSubscriptions = () => {
    for (const lost of ends) lost()
    ends.clear()
  }
  const heal = () => {
    line.cut = undefined
    healed.resolve()
  }
  return { store: cutStore, whole: store, line, loseSubscriptions, heal }
}

async function feedOn(t: Test, store: RevocationStore, options: Partial<Parameters<typeof revocationFeed>[0]> = {}) {
  const feed = revocationFeed({ store, pollSeconds: 0.02, timeoutSeconds: 0.05, ...options })
  t.teardown(() => feed.close())
  await feed.start()
  return feed
}

t.test('is infinitely stale before the first read, and then knows earlier revocations', async (t) => {
  const store = memoryRevocationStore()
  await store.revoke(session('s1'))
  const feed = revocationFeed({ store })
  t.teardown(() => feed.close())
  t.equal(feed.staleMs, Number.POSITIVE_INFINITY)
  await feed.start()
  t.ok(feed.staleMs < Number.POSITIVE_INFINITY)
  t.ok(feed.isRevoked({ ...holder, sid: 's1' }))
  t.notOk(feed.isRevoked({ ...holder, sid: 's2', jti: 's1' }))
  t.notOk(feed.isRevoked(holder))
})

t.test('revokes tokens by id, by session, by subject and all together, the last two up to a moment [U4]', async (t) => {
  const feed = await feedOn(t, memoryRevocationStore())
  const until = Date.now() + hour
  const at = holder.iat * 1000
  await feed.revoke({ kind: 'token', id: 'j1', until })
  await feed.revoke({ kind: 'session', id: 's1', until })
  await feed.revoke({ kind: 'subject', id: 'u1', issuedBefore: at, until })
  t.ok(feed.isRevoked({ ...holder, sub: 'u2', jti: 'j1' }))
  t.ok(feed.isRevoked({ ...holder, sub: 'u2', sid: 's1' }))
  t.notOk(feed.isRevoked({ ...holder, sub: 'u2', jti: 's1', sid: 'j1' }))
  t.ok(feed.isRevoked({ ...holder, iat: holder.iat - 1 }))
  t.notOk(feed.isRevoked(holder))
  t.notOk(feed.isRevoked({ sub: 'u2', iat: holder.iat - 1 }))
  await feed.revoke({ kind: 'everything', id: '', issuedBefore: at, until })
  t.ok(feed.isRevoked({ sub: 'u2', iat: holder.iat - 1 }))
  t.notOk(feed.isRevoked({ sub: 'u2', iat: holder.iat }))
})

t.test('learns of a revocation by another process without waiting for the next poll', async (t) => {
  const { store } = cuttable()
  const [here, there] = [await feedOn(t, store, { pollSeconds: 60 }), await feedOn(t, store, { pollSeconds: 60 })]
  await there.revoke(session('s1'))
  t.ok(there.isRevoked({ ...holder, sid: 's1' }), 'immediately in the revoking process')
  await until(() => here.isRevoked({ ...holder, sid: 's1' }))
})

t.test('reads many concurrent revocations together', async (t) => {
  const { store, whole, line } = cuttable()
  const feed = await feedOn(t, store, { pollSeconds: 60 })
  line.reads = 0
  await Promise.all(Array.from({ length: 100 }, (_, n) => whole.revoke(session(`s${n}`))))
  await until(() => feed.isRevoked({ ...holder, sid: 's99' }) && feed.isRevoked({ ...holder, sid: 's0' }))
  t.ok(line.reads < 10, `${line.reads} reads`)
})

t.test('reads again what is revoked during a read, and measures the staleness from the start of the read', async (t) => {
  const store = memoryRevocationStore()
  const responses = Promise.withResolvers<void>()
  let reads = 0
  const feed = revocationFeed({
    pollSeconds: 60,
    timeoutSeconds: 60,
    store: {
      ...store,
      async read(cursor) {
        reads += 1
        const page = await store.read(cursor)
        if (reads === 1) await responses.promise
        return page
      }
    }
  })
  t.teardown(() => feed.close())
  const started = feed.start()
  await until(() => reads === 1)
  await store.revoke(session('s1'))
  responses.resolve()
  await started
  t.equal(reads, 2)
  t.ok(feed.isRevoked({ ...holder, sid: 's1' }))
  let requestedAt = 0
  const read: RevocationStore['read'] = async (cursor) => {
    requestedAt = performance.now()
    await setImmediate()
    return store.read(cursor)
  }
  const slow = revocationFeed({ store: { ...store, read }, pollSeconds: 60 })
  t.teardown(() => slow.close())
  await slow.start()
  const sinceQuestion = performance.now() - requestedAt
  t.ok(slow.staleMs >= sinceQuestion)
})

t.test('finds revocations by polling when a subscription is silent', async (t) => {
  const { store, whole, line } = cuttable()
  line.deaf = true
  const feed = await feedOn(t, store)
  await whole.revoke(session('s1'))
  await until(() => feed.isRevoked({ ...holder, sid: 's1' }))
})

t.test('restores a lost subscription and misses nothing in between', async (t) => {
  const { store, whole, line, loseSubscriptions } = cuttable()
  const feed = await feedOn(t, store)
  loseSubscriptions()
  await whole.revoke(session('s1'))
  await until(() => line.subscriptions === 2 && feed.isRevoked({ ...holder, sid: 's1' }))
})

t.test('restores a subscription that is lost while it begins', async (t) => {
  const { store, line } = cuttable()
  let first = true
  const feed = await feedOn(t, {
    ...store,
    subscribe: (wake, lost) => {
      if (first) lost()
      first = false
      return store.subscribe(wake, lost)
    }
  })
  await until(() => line.subscriptions >= 2)
  t.ok(feed.staleMs < Number.POSITIVE_INFINITY)
})

for (const cut of ['silent', 'closed'] as const) {
  t.test(`becomes stale while the connection is ${cut}, and reads everything that it missed afterwards`, async (t) => {
    const errors: unknown[] = []
    const { store, whole, line, loseSubscriptions } = cuttable()
    const feed = await feedOn(t, store, { onError: (error) => errors.push(error) })
    line.cut = cut
    loseSubscriptions()
    await whole.revoke(session('s1'))
    await until(() => feed.staleMs > 200)
    t.notOk(feed.isRevoked({ ...holder, sid: 's1' }))
    line.cut = undefined
    await until(() => feed.staleMs < 100)
    t.ok(feed.isRevoked({ ...holder, sid: 's1' }))
    t.match(errors[0], { message: cut === 'silent' ? /The revocation store timed out after 0\.05 s/ : 'The connection is closed.' })
    await until(() => line.subscriptions === 2)
    await whole.revoke(session('s2'))
    await until(() => feed.isRevoked({ ...holder, sid: 's2' }))
  })
}

t.test('starts while the store is down, and is stale until the store is available', async (t) => {
  const { store, line } = cuttable()
  line.cut = 'closed'
  const feed = await feedOn(t, store)
  t.equal(feed.staleMs, Number.POSITIVE_INFINITY)
  await t.rejects(feed.revoke(session('s1')), { message: 'The connection is closed.' })
  t.ok(feed.isRevoked({ ...holder, sid: 's1' }), 'a revocation that was not stored applies in this process')
  line.cut = undefined
  await until(() => feed.staleMs < Number.POSITIVE_INFINITY)
})

for (const cut of ['hanging', 'closed'] as const) {
  t.test(`reads again as soon as a store whose connection is ${cut} is back, without waiting for the next poll`, async (t) => {
    const errors: unknown[] = []
    const { store, whole, line, loseSubscriptions, heal } = cuttable()
    const feed = await feedOn(t, store, { pollSeconds: 60, onError: (error) => errors.push(error) })
    line.cut = cut
    loseSubscriptions()
    // Reads that hang are not repeated until the store responds or the next poll.
    await until(() => line.reads >= (cut === 'closed' ? 4 : 2))
    if (cut === 'hanging') await until(() => errors.length === 2)
    await whole.revoke(session('s1'))
    t.notOk(feed.isRevoked({ ...holder, sid: 's1' }))
    heal()
    await until(() => feed.isRevoked({ ...holder, sid: 's1' }) && line.subscriptions >= 2)
    await whole.revoke(session('s2'))
    await until(() => feed.isRevoked({ ...holder, sid: 's2' }))
    t.ok(errors.length <= 2, `${errors.length} errors for ${line.reads} reads`)
  })
}

t.test('ends a subscription that begins after the timeout', async (t) => {
  const { store } = cuttable()
  const begins = Promise.withResolvers<() => Promise<void>>()
  const ended = Promise.withResolvers<void>()
  let first = true
  await feedOn(t, {
    ...store,
    subscribe: (wake, lost) => {
      if (!first) return store.subscribe(wake, lost)
      first = false
      return begins.promise
    }
  })
  begins.resolve(async () => ended.resolve())
  await ended.promise
})

/** Moves the clock of this process forward, while its timers do not run, as when its event loop was blocked. */
function skipTime(t: Test, ms: number) {
  const now = performance.now.bind(performance)
  const skipped = mock.method(performance, 'now', () => now() + ms)
  t.teardown(() => skipped.mock.restore())
}

t.test('a process that was not running reads the revocations again instead of refusing every token [U4]', async (t) => {
  const { store, whole, line } = cuttable()
  line.deaf = true
  const feed = revocationFeed({ store, pollSeconds: 60 })
  const { app, kit } = await service({ revocations: feed })
  const call = async (sid: string) => {
    const response = await app.inject({ url: '/orders', headers: { authorization: `Bearer ${kit.token({ scope: 'orders:read', sid })}` } })
    return response.statusCode === 200 ? 'OK' : response.json().code
  }
  t.equal(await call('s1'), 'OK')
  await whole.revoke(session('s1'))
  skipTime(t, 3_600_000)
  t.ok(feed.staleMs > 3_000_000)
  line.reads = 0
  t.strictSame(await Promise.all(['s1', 's2', 's3', 's2'].map(call)), ['TOKEN_REVOKED', 'OK', 'OK', 'OK'])
  t.ok(line.reads <= 2, `${line.reads} reads for all`)
})

for (const cut of ['silent', 'closed', 'hanging'] as const) {
  t.test(`a process that was not running refuses tokens when the connection of the store is ${cut} [U4]`, async (t) => {
    const { store, line } = cuttable()
    const feed = revocationFeed({ store, pollSeconds: 60, timeoutSeconds: 0.05 })
    const { app, kit } = await service({ revocations: feed })
    const headers = { authorization: `Bearer ${kit.token({ scope: 'orders:read' })}` }
    t.equal((await app.inject({ url: '/orders', headers })).statusCode, 200)
    line.cut = cut
    skipTime(t, 3_600_000)
    t.match((await app.inject({ url: '/orders', headers })).json(), { statusCode: 503, code: 'AUTHENTICATION_UNAVAILABLE' })
  })
}

t.test('removes a revocation when the revoked tokens have expired', async (t) => {
  const feed = await feedOn(t, memoryRevocationStore())
  const soon = Date.now() + 30
  await feed.revoke({ kind: 'token', id: 'j1', until: soon })
  await feed.revoke({ kind: 'session', id: 's1', until: soon })
  await feed.revoke({ kind: 'subject', id: 'u1', issuedBefore: Date.now(), until: soon })
  await feed.revoke({ kind: 'everything', id: '', issuedBefore: Date.now(), until: soon })
  await feed.revoke(session('s2'))
  const old = { sub: 'u1', iat: 0 }
  await until(() => !feed.isRevoked({ ...old, jti: 'j1', sid: 's1' }))
  t.ok(feed.isRevoked({ ...old, sid: 's2' }))
})

t.test('stops reading and listening when it is closed, also during a read', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { store, whole, line } = cuttable()
  const feed = revocationFeed({ store, pollSeconds: 0.01 })
  const started = feed.start()
  await feed.close()
  await started
  const { reads } = line
  await whole.revoke(session('s1'))
  mock.timers.tick(1000)
  await turns()
  t.equal(line.reads, reads)
  t.notOk(feed.isRevoked({ ...holder, sid: 's1' }))
  await t.resolves(revocationFeed({ store }).close(), 'a feed that never started')
})

t.test('rejects invalid times', async (t) => {
  const store = memoryRevocationStore()
  t.throws(() => revocationFeed({ store, pollSeconds: 0 }), {
    message: 'authentication: options.pollSeconds must be a number from 0.01 to 60, but is 0.'
  })
  t.throws(
    () => revocationFeed({ store, timeoutSeconds: Number.NaN }),
    /options\.timeoutSeconds must be a number from 0\.01 to 60, but is NaN/
  )
})

t.test('starts the feed with the service, and closes it when the service closes [U4]', async (t) => {
  const { store, line } = cuttable()
  await store.revoke(session('s1'))
  const feed = revocationFeed({ store, pollSeconds: 60 })
  const { app, kit } = await service({ revocations: feed })
  const call = async (sid: string) =>
    app.inject({ url: '/orders', headers: { authorization: `Bearer ${kit.token({ scope: 'orders:read', sid })}` } })
  t.equal((await call('s1')).json().code, 'TOKEN_REVOKED')
  t.equal((await call('s2')).statusCode, 200)
  line.reads = 0
  await feed.start()
  t.equal(line.reads, 0, 'the feed has already started')
  await app.close()
  await store.revoke(session('s2'))
  t.notOk(feed.isRevoked({ ...holder, sid: 's2' }))
})

t.test('a listener is called once all tokens of a user are revoked in the store, and its failure is that of the revocation', async (t) => {
  const calls: unknown[] = []
  const kept = memoryRevocationStore()
  const store = { ...kept, revoke: async (revocation: Revocation) => (calls.push(revocation.kind), kept.revoke(revocation)) }
  const feed = revocationFeed({ store })
  const until = Date.now() + 60_000
  feed.onSubjectRevoked(async (subject) => {
    calls.push(subject)
    if (subject === 'max') throw new Error('The database is gone.')
  })
  await feed.revoke({ kind: 'session', id: 'one', until })
  await feed.revoke({ kind: 'subject', id: 'ada', issuedBefore: 1, until })
  await t.rejects(feed.revoke({ kind: 'subject', id: 'max', issuedBefore: 1, until }), /gone/)
  t.strictSame(calls, ['session', 'subject', 'ada', 'subject', 'max'])
})
