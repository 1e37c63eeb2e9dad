import idempotency, { type BeginOutcome, type Claim, type IdempotencyStore, memoryIdempotencyStore } from '@concordat/idempotency'
import { stoppedTime } from '@concordat/test-harness/elapsed-time'
import { scaled } from '@concordat/test-harness/scale'
import * as fc from 'fast-check'
import Fastify from 'fastify'
import t from 'tap'

/** The number of interleavings that are tested. */
const numRuns = scaled(400, 20_000)

const key = 'k'.repeat(43)
const lease = 100
const lifetime = 1000

/** An effect in the store, with the time at which it took place. */
type Event =
  | { readonly what: 'begin'; readonly at: number; readonly fingerprint: string; readonly outcome: BeginOutcome }
  | {
      readonly what: 'renew' | 'complete' | 'release'
      readonly at: number
      readonly claim: Claim
      readonly received: unknown
      readonly body?: unknown
    }

/** Returns a remote store: the scheduler decides when each call and each result arrives. */
function remote(store: IdempotencyStore, s: fc.Scheduler, now: () => number, note: (event: Event) => void): IdempotencyStore {
  const travels = () => s.schedule(Promise.resolve('it travels'))
  const onClaim = async <Received>(
    what: 'renew' | 'complete' | 'release',
    claim: Claim,
    work: () => Received | Promise<Received>,
    body?: unknown
  ) => {
    await travels()
    const received = await work()
    note({ what, at: now(), claim, received, body })
    await travels()
    return received
  }
  return {
    guarantees: store.guarantees,
    async begin(of, fingerprint, terms) {
      await travels()
      const outcome = await store.begin(of, fingerprint, terms)
      note({ what: 'begin', at: now(), fingerprint, outcome })
      await travels()
      return outcome
    },
    renew: (claim, ...received) => onClaim('renew', claim, () => store.renew(claim, ...received)),
    complete: (claim, response, ...received) =>
      onClaim('complete', claim, () => store.complete(claim, response, ...received), response.body),
    release: (claim) => onClaim('release', claim, () => store.release(claim))
  }
}

/** The behaviour of a process: it calls `begin` several times, and with the claim it renews, waits, and ends in one of three ways. */
const behaviour = fc.record({
  requests: fc.integer({ min: 1, max: 3 }),
  fingerprint: fc.constantFrom('same', 'same', 'same', 'other'),
  takesOver: fc.boolean(),
  renewals: fc.integer({ min: 0, max: 2 }),
  end: fc.constantFrom('complete', 'complete', 'complete twice', 'release', 'die')
})
const processes = fc.array(behaviour, { minLength: 2, maxLength: 5 })
// The steps of the clock: within a lease, just over it, over the lifetime.
const clockSteps = fc.array(fc.constantFrom(1, 50, lease - 1, lease, lease + 1, lifetime), { maxLength: 5 })
type Plan = typeof processes extends fc.Arbitrary<infer Plans> ? Plans : never

async function play(s: fc.Scheduler, plans: Plan, steps: readonly number[], time: { now: number }, whole = memoryIdempotencyStore()) {
  const events: Event[] = []
  time.now = 0
  const store = remote(
    whole,
    s,
    () => time.now,
    (event) => events.push(event)
  )
  const work = async ({ requests, fingerprint, takesOver, renewals, end }: Plan[number], n: number) => {
    for (let call = 0; call < requests; call += 1) {
      const outcome = await store.begin(key, fingerprint, {
        leaseMs: lease,
        lifetimeMs: lifetime,
        takesOver,
        client: 'c',
        maxClientBytes: 1e9
      })
      if (outcome.state !== 'claimed') continue
      for (let renewal = 0; renewal < renewals; renewal += 1) await store.renew(outcome.claim, lease)
      if (end === 'die') return
      if (end === 'release') await store.release(outcome.claim)
      else await store.complete(outcome.claim, { status: 200, headers: {}, body: `by ${n} at ${call}` }, lifetime)
      if (end === 'complete twice') await store.complete(outcome.claim, { status: 200, headers: {}, body: 'again' }, lifetime)
    }
  }
  const clock = async () => {
    for (const step of steps) {
      await s.schedule(Promise.resolve(`${step} ms pass`))
      time.now += step
    }
  }
  const all = Promise.all([...plans.map(work), clock()])
  await s.waitFor(all)
  await all
  return events
}

/** Returns the guarantee that was broken, determined from the events alone. */
function broken(events: readonly Event[]): string | undefined {
  let owner: { token: number; fingerprint: string; leaseEndsAt: number; endsAt: number } | undefined
  let response: unknown
  let highest = 0
  for (const event of events) {
    if (owner !== undefined && event.at >= owner.endsAt) {
      owner = undefined
      response = undefined
    }
    if (event.what === 'begin') {
      const { outcome, fingerprint, at } = event
      if (owner !== undefined && owner.fingerprint !== fingerprint) {
        if (outcome.state !== 'mismatch') return `another request got ${outcome.state}`
      } else if (outcome.state === 'mismatch') return 'the same request got mismatch'
      else if (response !== undefined) {
        if (outcome.state !== 'done' || outcome.response.body !== response) return 'the stored response was not returned'
      } else if (outcome.state === 'done') return 'a response was returned that was never stored'
      else if (outcome.state === 'claimed') {
        if (owner !== undefined && at < owner.leaseEndsAt) return 'two owners in the same epoch'
        if (outcome.claim.token <= highest) return 'a token is not higher than the one before'
        highest = outcome.claim.token
        owner = { token: highest, fingerprint, leaseEndsAt: at + lease, endsAt: at + lifetime }
      } else if (owner === undefined || (outcome.state === 'busy') !== at < owner.leaseEndsAt)
        return `${outcome.state} without a matching owner`
      continue
    }
    const { what, claim, received, at, body } = event
    const wins = received === true || received === 'stored' || received === 'released'
    const isOwner = owner?.token === claim.token
    if (wins && !isOwner) return `a stale token could ${what}`
    if (!wins && isOwner && (what === 'complete' || response === undefined)) return `an owner could not ${what}`
    if (!wins || owner === undefined) continue
    if (what !== 'complete' && response !== undefined) return `${what} after it was completed`
    if (what === 'renew') owner.leaseEndsAt = at + lease
    if (what === 'complete' && response === undefined) {
      response = body
      owner.endsAt = at + lifetime
    }
    if (what === 'release') owner = undefined
  }
  return undefined
}

t.test('in any order of events, there are never two owners in the same epoch, and a stale token never writes', async (t) => {
  const time = stoppedTime(t)
  let takeovers = 0
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), processes, clockSteps, async (s, plans, steps) => {
      const events = await play(s, plans, steps, time)
      takeovers += events.filter(
        (event) => event.what === 'begin' && event.outcome.state === 'claimed' && event.outcome.claim.attempt > 1
      ).length
      const problem = broken(events)
      if (problem !== undefined) throw new Error(problem)
    }),
    { numRuns }
  )
  t.ok(takeovers > 0, `${numRuns} interleavings, ${takeovers} takeovers among them`)
})

/** Faults of existing implementations: they read first and write later, complete without a token, or forget when the lease expires. */
const torn: Readonly<Record<string, (store: IdempotencyStore) => IdempotencyStore>> = {
  'reads first and claims later': (store) => {
    let records = 0
    return {
      ...store,
      async begin(of, fingerprint, terms) {
        const seen = records
        await Promise.resolve()
        await new Promise((resolve) => setImmediate(resolve))
        records += 1
        if (seen === 0) return { state: 'claimed', claim: { key: of, client: 'c', token: records, attempt: 1 }, clientBytes: 0 }
        return store.begin(of, fingerprint, terms)
      }
    }
  },
  'completes without checking the token': (store) => {
    let latest: Claim | undefined
    return {
      ...store,
      async begin(...received) {
        const outcome = await store.begin(...received)
        if (outcome.state === 'claimed') latest = outcome.claim
        return outcome
      },
      complete: (_claim, ...received) => store.complete(latest as Claim, ...received)
    }
  },
  'releases without checking the token': (store) => {
    let latest: Claim | undefined
    return {
      ...store,
      async begin(...received) {
        const outcome = await store.begin(...received)
        if (outcome.state === 'claimed') latest = outcome.claim
        return outcome
      },
      release: () => store.release(latest as Claim)
    }
  },
  'returns the same token again': (store) => ({
    ...store,
    async begin(...received) {
      const outcome = await store.begin(...received)
      return outcome.state === 'claimed' ? { ...outcome, claim: { ...outcome.claim, token: 1 } } : outcome
    }
  })
}

for (const [what, tear] of Object.entries(torn)) {
  t.test(`detects a store that breaks a guarantee: ${what}`, async (t) => {
    const time = stoppedTime(t)
    const { failed } = await fc.check(
      fc.asyncProperty(fc.scheduler(), processes, clockSteps, async (s, plans, steps) => {
        const events = await play(s, plans, steps, time, tear(memoryIdempotencyStore()))
        return broken(events) === undefined
      }),
      { numRuns: 2000, endOnFailure: true }
    )
    t.ok(failed)
  })
}

// Over HTTP: clients with the same key, each of which retries until it gets a response, and a store whose results are late or lost.
const clients = fc.array(fc.record({ lost: fc.array(fc.boolean(), { maxLength: 3 }) }), { minLength: 2, maxLength: 4 })

t.test(
  'in any order of events, one request runs for clients that retry with the same key until they get a response, and all get its response',
  async (t) => {
    const httpRuns = scaled(40, 2000)
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), clients, async (s, plans) => {
        let runs = 0
        const store = remote(
          memoryIdempotencyStore(),
          s,
          () => 0,
          () => {}
        )
        // A lost acknowledgement: the store completed the call, but the caller does not know it.
        const losses = plans.flatMap(({ lost }) => lost)
        const unreliable: IdempotencyStore = {
          ...store,
          async complete(...received) {
            const outcome = await store.complete(...received)
            if (losses.shift()) throw new Error('The connection broke.')
            return outcome
          }
        }
        const app = Fastify()
        await app.register(idempotency, { scope: () => 'ada', store: unreliable, storeTimeoutSeconds: 60 })
        app.post('/orders', { config: { idempotency: 'required' } }, async () => {
          runs += 1
          await s.schedule(Promise.resolve('the handler works'))
          return { run: runs }
        })
        const call = async () => {
          for (;;) {
            await s.schedule(Promise.resolve('the client asks'))
            const { statusCode, body } = await app.inject({
              method: 'POST',
              url: '/orders',
              payload: {},
              headers: { 'idempotency-key': key }
            })
            if (statusCode !== 409) return `${statusCode} ${body}`
          }
        }
        const all = Promise.all(plans.map(call))
        await s.waitFor(all)
        const responses = new Set(await all)
        await app.close()
        return runs === 1 && responses.size === 1 && responses.has('200 {"run":1}')
      }),
      { numRuns: httpRuns }
    )
    t.pass(`${httpRuns} interleavings`)
  }
)
