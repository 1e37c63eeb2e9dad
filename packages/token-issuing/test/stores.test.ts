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

t.test('removes the session that was idle longest when there are more than 100,000', async (t) => {
  const store = memoryRefreshTokenStore()
  await store.begin(familyOf('a', 0), 's1', hour)
  for (let count = 1; count < 100_000; count += 1) await store.begin(familyOf(`b${count}`, 0), 's1', hour)
  await store.use({ handle: 'a', secret: 's1', successor: 's2', ...hours(0.5) })
  await store.begin(familyOf('c', 0.5), 's1', 2 * hour)
  t.equal((await store.use({ handle: 'b1', secret: 's1', successor: 's2', ...hours(0.5) })).outcome, 'unknown')
  for (const [handle, secret] of [
    ['a', 's2'],
    ['b2', 's1']
  ] as const)
    t.equal((await store.use({ handle, secret, successor: 's3', ...hours(0.5) })).outcome, 'rotated')
})

t.test('removes expired sessions when a new one begins', async (t) => {
  const store = memoryRefreshTokenStore()
  await store.begin(familyOf('a', 0), 's1', hour)
  await store.begin(familyOf('b', 2), 's1', 3 * hour)
  t.equal(await store.revokeHandle('a'), undefined)
  t.match(await store.revokeHandle('b'), { id: 'b' })
})

t.test('removes the least recently used key when there are more than 100,000', async (t) => {
  const store = memoryLoginAttemptStore()
  const limit = { limit: 1, windowMs: 1000 }
  for (let count = 0; count <= 100_000; count += 1) await store.take(`key ${count}`, limit, 0)
  t.equal(await store.take('key 1', limit, 0), 1000)
  t.equal(await store.take('key 0', limit, 0), 0)
})
