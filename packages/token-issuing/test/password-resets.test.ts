import { passwords, tokenIssuer } from '@concordat/token-issuing'
import t from 'tap'
import { issuing, password, refreshKeys } from './issuing.ts'

const invalid = { code: 'PASSWORD_RESET_INVALID', statusCode: 422, headers: { 'cache-control': 'no-store' } }
const otherKey = 'mN4vTq9Zc2Xw7Lr5Ks8Jd3Fh6Gp1By0E'

t.test('a token of a password reset names its user until it expires or the password changes', async (t) => {
  const { issuer, users, clock } = issuing()
  const [ada] = users as [(typeof users)[0]]
  const token = issuer.passwordResetToken(ada)
  t.match(token, /^pr_[\w-]{74,}$/)
  t.equal(await issuer.userOfPasswordReset(token), ada)
  clock.now += 3_599_999
  t.equal(await issuer.userOfPasswordReset(token), ada)
  clock.now += 1
  await t.rejects(issuer.userOfPasswordReset(token), invalid, 'an hour later')

  const second = issuer.passwordResetToken(ada)
  users[0] = { ...ada, passwordHash: await passwords().hash(`another ${password}`) }
  await t.rejects(issuer.userOfPasswordReset(second), invalid, 'after the password has changed')
  t.equal(await issuer.userOfPasswordReset(issuer.passwordResetToken(users[0])), users[0])
  const last = issuer.passwordResetToken(users[0])
  users.pop()
  await t.rejects(issuer.userOfPasswordReset(last), invalid, 'after the user was removed')
})

t.test('a user without a password chooses the first one with such a token', async (t) => {
  const { issuer, users } = issuing()
  users[0] = { id: 'ü1' }
  const token = issuer.passwordResetToken(users[0])
  t.equal(await issuer.userOfPasswordReset(token), users[0])
  users[0] = { id: 'ü1', passwordHash: null as unknown as undefined }
  t.equal(await issuer.userOfPasswordReset(token), users[0], 'a row of a database with NULL')
  t.equal(await issuer.userOfPasswordReset(issuer.passwordResetToken(users[0])), users[0])
  users[0] = { id: 'ü1', passwordHash: 'x' }
  await t.rejects(issuer.userOfPasswordReset(token), invalid)
})

t.test(
  'a token of a former key is valid, one that was changed or signed with another key is not, and no user is looked up for it',
  async (t) => {
    let lookups = 0
    const { issuer, options, users } = issuing()
    const [ada] = users as [(typeof users)[0]]
    const token = issuer.passwordResetToken(ada)
    const findUserById = (id: string) => {
      lookups += 1
      return options.findUserById(id)
    }
    const rotated = tokenIssuer({ ...options, findUserById, refreshKeys: [otherKey, ...refreshKeys] })
    t.equal(await rotated.userOfPasswordReset(token), ada)
    t.equal(lookups, 1)

    const bytes = Buffer.from(token.slice(3), 'base64url')
    const changed = Array.from(bytes, (_, index) => {
      const copy = Buffer.from(bytes)
      copy.writeUInt8(copy.readUInt8(index) ^ 1, index)
      return `pr_${copy.toString('base64url')}`
    })
    const others = ['', 'pr_', token.slice(3), `${token}é`, 'x'.repeat(2000), 7 as unknown as string]
    for (const wrong of [...changed, ...others]) await t.rejects(rotated.userOfPasswordReset(wrong), invalid, wrong)
    await t.rejects(tokenIssuer({ ...options, refreshKeys: [otherKey] }).userOfPasswordReset(token), invalid, 'the key was removed')
    t.equal(lookups, 1)
  }
)

t.test('what a client knows of the key from a refresh signs no reset', async (t) => {
  const lookups: string[] = []
  const { issuer, signIn, refresh } = issuing({ findUserById: (id) => (lookups.push(id), { id }) })
  const { refreshToken: before } = await signIn()
  const { refreshToken: after } = await refresh(before)
  // The secret of a successor is an HMAC of its predecessor, with the same key.
  const mac = Buffer.from(after.slice(3), 'base64url').subarray(16, 48)
  lookups.length = 0
  for (const content of [`refresh token after ${before}`, before, ''])
    await t.rejects(issuer.userOfPasswordReset(`pr_${Buffer.concat([Buffer.from(content), mac]).toString('base64url')}`), invalid)
  t.strictSame(lookups, [])
})

t.test('a password is checked with the limits of a sign-in', async (t) => {
  const { issuer, users } = issuing({ attempts: { perAccountAndAddress: { limit: 2 } } })
  t.equal(await issuer.checkPassword(' ADA@example.com', password), users[0])
  await t.rejects(issuer.checkPassword('ada@example.com', ''), { code: 'INVALID_TOKEN_REQUEST', errors: [{ field: 'body.password' }] })
  for (const attempt of [1, 2])
    await t.rejects(issuer.checkPassword('ada@example.com', 'wrong'), { code: 'INVALID_CREDENTIALS' }, String(attempt))
  await t.rejects(issuer.checkPassword('ada@example.com', password), { code: 'LOGIN_ATTEMPTS_EXCEEDED' })
})
