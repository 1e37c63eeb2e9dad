import { casesOf } from '@concordat/test-harness/contract-cases'
import { memoryLoginAttemptStore, memoryRefreshTokenStore } from '@concordat/token-issuing'
import { loginAttemptStoreContract, refreshTokenStoreContract } from '@concordat/token-issuing/testing'
import t from 'tap'

const hour = 3_600_000
const hours = (count: number) => ({ reuseGraceMs: 0, idleMs: hour, now: count * hour, clientId: undefined })
const familyOf = (name: string, began: number) => ({
  id: name,
  handle: name,
  subject: 'u1',
  beganAt: began * hour,
  expiresAt: (began + 9) * hour
})

t.test('passes the refresh token contract in memory', async (t) => {
  refreshTokenStoreContract(casesOf(t), () => memoryRefreshTokenStore())
})

t.test('passes the login attempt contract in memory', async (t) => {
  loginAttemptStoreContract(casesOf(t), () => memoryLoginAttemptStore())
})

t.test('removes the session that was idle longest when there are more than maxFamilies', async (t) => {
  const store = memoryRefreshTokenStore({ maxFamilies: 2 })
  await store.begin(familyOf('a', 0), 's1', hour)
  await store.begin(familyOf('b', 0), 's1', hour)
  await store.use({ handle: 'a', secret: 's1', successor: 's2', ...hours(0.5) })
  await store.begin(familyOf('c', 0.5), 's1', 2 * hour)
  t.equal((await store.use({ handle: 'b', secret: 's1', successor: 's2', ...hours(0.5) })).outcome, 'unknown')
  t.equal((await store.use({ handle: 'a', secret: 's2', successor: 's3', ...hours(0.5) })).outcome, 'rotated')
})

t.test('removes expired sessions when a new one begins', async (t) => {
  const store = memoryRefreshTokenStore()
  await store.begin(familyOf('a', 0), 's1', hour)
  await store.begin(familyOf('b', 2), 's1', 3 * hour)
  t.equal(await store.revokeHandle('a'), undefined)
  t.match(await store.revokeHandle('b'), { id: 'b' })
})

t.test('removes the least recently used key when there are more than maxKeys', async (t) => {
  const store = memoryLoginAttemptStore({ maxKeys: 2 })
  const limit = { limit: 1, windowMs: 1000 }
  for (const key of ['a', 'b', 'c']) await store.take(key, limit, 0)
  t.equal(await store.take('c', limit, 0), 1000)
  t.equal(await store.take('a', limit, 0), 0)
})

t.test('rejects a memory store without capacity', async (t) => {
  t.throws(() => memoryRefreshTokenStore({ maxFamilies: 0 }), {
    message: 'token-issuing: options.maxFamilies must be an integer from 1 to 10000000, but is 0.'
  })
  t.throws(() => memoryLoginAttemptStore({ maxKeys: 0.5 }), /options\.maxKeys must be an integer from 1 to 10000000, but is 0.5/)
})
