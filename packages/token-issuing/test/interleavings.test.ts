import { isApiError } from '@concordat/plugin-kit/api-error'
import { scaled } from '@concordat/test-harness/scale'
import { memoryRefreshTokenStore, type RefreshFamily, type RefreshTokenStore } from '@concordat/token-issuing'
import { hashSync } from '@node-rs/argon2'
import * as fc from 'fast-check'
import t from 'tap'
import { issuing, password } from './issuing.ts'

/** The number of interleavings to test. */
const numRuns = scaled(200, 10_000)
const grace = 10_000
// Sign-in is not tested here, so its hash is cheap.
const passwordHash = hashSync(password, { memoryCost: 8, timeCost: 1 })

/** A remote store: the scheduler decides when each call arrives, and when each result arrives. */
function remote(store: RefreshTokenStore, s: fc.Scheduler): RefreshTokenStore {
  const distant =
    <Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      await s.schedule(Promise.resolve('the call arrives'))
      const result = await work(...args)
      await s.schedule(Promise.resolve('the result arrives'))
      return result
    }
  return {
    begin: (...received) => store.begin(...received),
    use: distant((use) => store.use(use)),
    revokeHandle: distant((handle) => store.revokeHandle(handle)),
    revokeFamily: distant((id) => store.revokeFamily(id)),
    revokeSubject: distant((subject) => store.revokeSubject(subject)),
    revokeAll: distant(() => store.revokeAll())
  }
}

/** A service whose steps the scheduler interleaves: the store and the user directory. */
function scheduled(s: fc.Scheduler, store: RefreshTokenStore = memoryRefreshTokenStore()) {
  const service = issuing({
    findUser: () => ({ id: 'u1', passwordHash }),
    refreshTokens: remote(store, s),
    findUserById: async (id) => {
      await s.schedule(Promise.resolve('the directory returns'))
      return { id }
    }
  })
  /** Waits until this time at the earliest. */
  const wait = async (time: number) => {
    await s.schedule(Promise.resolve(`it is ${time}`))
    service.clock.now = Math.max(service.clock.now, time)
  }
  return { ...service, store, wait }
}

/** Returns the new refresh token, or the code of the error. */
async function outcome(response: Promise<{ refreshToken: string }>): Promise<string> {
  try {
    return (await response).refreshToken
  } catch (error) {
    if (!isApiError(error)) throw error
    return error.code
  }
}

/** Waits for all of these, until nothing is left to schedule. */
async function all<Result>(s: fc.Scheduler, work: Promise<Result>[]): Promise<Result[]> {
  const done = Promise.all(work)
  await s.waitFor(done)
  return done
}

// A browser with one session in several tabs: each tab refreshes with the same token within the grace period, some of them
// twice because the response was lost.
const tabs = fc.array(fc.record({ delay: fc.integer({ min: 0, max: grace - 1 }), lostResponses: fc.integer({ min: 0, max: 1 }) }), {
  minLength: 2,
  maxLength: 4
})

async function parallelTabs(
  s: fc.Scheduler,
  plan: readonly { delay: number; lostResponses: number }[],
  generations: number,
  store?: RefreshTokenStore
) {
  const { signIn, refresh, clock, wait, revocations, signed } = scheduled(s, store)
  const start = signIn()
  await s.waitFor(start)
  let token = (await start).refreshToken
  for (let generation = 0; generation < generations; generation += 1) {
    const from = clock.now
    const shared = token
    const call = async ({ delay, lostResponses }: { delay: number; lostResponses: number }) => {
      await wait(from + delay)
      const responses: string[] = []
      for (let time = 0; time <= lostResponses; time += 1) responses.push(await outcome(refresh(shared)))
      return responses
    }
    const responses = (await all(s, plan.map(call))).flat()
    const [next = ''] = responses
    if (!next.startsWith('rt_') || responses.some((response) => response !== next)) return { problem: responses }
    token = next
    clock.now += 900_000
  }
  return { problem: undefined, revoked: signed.some((claims) => revocations.isRevoked(claims)) }
}

t.test('returns the same successor to parallel tabs and after lost responses within the grace period, and ends no session', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), tabs, fc.integer({ min: 1, max: 2 }), async (s, plan, generations) => {
      const { problem, revoked } = await parallelTabs(s, plan, generations)
      return problem === undefined && !revoked
    }),
    { numRuns }
  )
  t.pass(`${numRuns} interleavings`)
})

// A thief has one of the tokens of an active session, and uses it whenever the scheduler decides.
const theft = fc.record({
  rotations: fc.integer({ min: 1, max: 5 }),
  stolen: fc.nat({ max: 4 }),
  pause: fc.constantFrom(0, 1, grace - 1, grace, grace + 1, 900_000),
  uses: fc.integer({ min: 1, max: 3 })
})

async function thief(
  s: fc.Scheduler,
  { rotations, stolen, pause, uses }: { rotations: number; stolen: number; pause: number; uses: number },
  under?: RefreshTokenStore
) {
  const judged: { use: Parameters<RefreshTokenStore['use']>[0]; outcome: string }[] = []
  const store = under ?? memoryRefreshTokenStore()
  // Recorded in the order in which they took effect.
  const noting: RefreshTokenStore = {
    ...store,
    use: async (use) => {
      const result = await store.use(use)
      judged.push({ use, outcome: result.outcome })
      return result
    }
  }
  const { signIn, refresh, clock, wait, revocations, signed } = scheduled(s, noting)
  const start = signIn()
  await s.waitFor(start)
  const tokens = [(await start).refreshToken]
  const owner = async () => {
    for (let n = 0; n < rotations; n += 1) {
      const response = await outcome(refresh(tokens.at(-1) as string))
      if (!response.startsWith('rt_')) return
      tokens.push(response)
      await wait(clock.now + pause)
    }
  }
  const stealer = async (_: unknown, n: number) => {
    await s.schedule(Promise.resolve('the thief waits'))
    await outcome(refresh(tokens[Math.min(stolen + n, tokens.length - 1)] as string))
  }
  await all(s, [owner(), ...Array.from({ length: uses }, stealer)])
  return { judged, refresh, revocations, signed, tokens, clock }
}

/** Returns the outcomes that the store must return, derived from the uses only. */
function expectedOutcomes(judged: readonly { use: Parameters<RefreshTokenStore['use']>[0] }[]): string[] {
  const chain: { secret: string; replacedAt: number | undefined }[] = []
  let revoked = false
  return judged.map(({ use }) => {
    if (chain.length === 0) chain.push({ secret: use.secret, replacedAt: undefined })
    if (revoked) return 'revoked'
    const place = chain.findIndex(({ secret }) => secret === use.secret)
    const found = chain[place]
    if (found !== undefined && place === chain.length - 1) {
      found.replacedAt = use.now
      chain.push({ secret: use.successor, replacedAt: undefined })
      return 'rotated'
    }
    if (found?.replacedAt !== undefined && place === chain.length - 2 && use.now - found.replacedAt < grace) return 'repeated'
    revoked = true
    return 'reused'
  })
}

t.test('revokes the family for a reuse after the grace period, or of any token older than the predecessor', async (t) => {
  let reuses = 0
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), theft, async (s, plan) => {
      const { judged, refresh, revocations, signed, tokens, clock } = await thief(s, plan)
      const wanted = expectedOutcomes(judged)
      if (judged.some(({ outcome }, n) => outcome !== wanted[n])) return false
      if (!wanted.includes('reused')) {
        // No reuse yet: the first token is repeated after its grace period.
        clock.now += grace
        const late = outcome(refresh(tokens[0] as string))
        await s.waitFor(late)
        if ((await late) !== 'REFRESH_TOKEN_REUSED') return false
      } else reuses += 1
      const after = await all(
        s,
        tokens.map((token) => outcome(refresh(token)))
      )
      return after.every((response) => response === 'REFRESH_TOKEN_REVOKED') && signed.every((claims) => revocations.isRevoked(claims))
    }),
    { numRuns }
  )
  t.ok(reuses > 0, `${numRuns} interleavings, ${reuses} with a reuse among them`)
})

/** A store without a lock. */
function torn(s: fc.Scheduler): RefreshTokenStore {
  let record = { newest: '', replaced: '', at: 0, revoked: false }
  let family: RefreshFamily
  return {
    ...memoryRefreshTokenStore(),
    async begin(begun, secret) {
      family = begun
      record.newest = secret
    },
    async use({ secret, successor, now }) {
      const read = { ...record }
      await s.schedule(Promise.resolve('others come in between'))
      if (read.revoked) return { outcome: 'revoked', family }
      if (secret === read.newest) {
        record = { ...read, newest: successor, replaced: secret, at: now }
        return { outcome: 'rotated', family, newest: successor }
      }
      if (secret === read.replaced && now - read.at < grace) return { outcome: 'repeated', family, newest: read.newest }
      record = { ...read, revoked: true }
      return { outcome: 'reused', family }
    }
  }
}

t.test('detects a store that reads first and writes later', async (t) => {
  const { failed } = await fc.check(
    fc.asyncProperty(fc.scheduler(), theft, async (s, plan) => {
      const { judged } = await thief(s, plan, torn(s))
      const wanted = expectedOutcomes(judged)
      return judged.every(({ outcome }, n) => outcome === wanted[n])
    }),
    { numRuns: 500, endOnFailure: true }
  )
  t.ok(failed)
})
