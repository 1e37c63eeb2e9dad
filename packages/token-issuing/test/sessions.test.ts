import { mock } from 'node:test'
import t from 'tap'
import { issuing, refreshKeys } from './issuing.ts'

const claims = { sub: 'u1', iat: 0 }

t.test('returns new tokens of the same session for a refresh token, with the current permissions of the user [U3]', async (t) => {
  const { signIn, refresh, signed, users } = issuing()
  const first = await signIn()
  users[0] = { id: 'u1', permissions: ['orders:read'] }
  const second = await refresh(first.refreshToken)
  t.match(second, { accessToken: 'access 2', tokenType: 'Bearer', expiresIn: 900 })
  t.not(second.refreshToken, first.refreshToken)
  t.equal(signed[1]?.sid, signed[0]?.sid)
  t.not(signed[1]?.jti, signed[0]?.jti)
  t.equal(signed[1]?.scope, 'orders:read')
  t.match(await refresh(second.refreshToken), { accessToken: 'access 3' })
})

t.test('returns the same successor for the same token within the grace period', async (t) => {
  const { signIn, refresh, clock } = issuing()
  const { refreshToken } = await signIn()
  const [one, two] = await Promise.all([refresh(refreshToken), refresh(refreshToken)])
  clock.now += 9999
  const three = await refresh(refreshToken)
  t.strictSame([two.refreshToken, three.refreshToken], [one.refreshToken, one.refreshToken])
  t.match(await refresh(one.refreshToken), { tokenType: 'Bearer' })
})

t.test('ends the session with newer refresh tokens and all access tokens for a reuse after the grace period [U4]', async (t) => {
  const { signIn, refresh, clock, revocations, signed } = issuing()
  const first = await signIn()
  const second = await refresh(first.refreshToken)
  clock.now += 10_000
  t.notOk(revocations.isRevoked({ ...claims, sid: signed[0]?.sid }))
  await t.rejects(refresh(first.refreshToken), {
    statusCode: 401,
    code: 'REFRESH_TOKEN_REUSED',
    headers: { 'cache-control': 'no-store', 'www-authenticate': 'Bearer realm="api"' }
  })
  await t.rejects(refresh(second.refreshToken), { statusCode: 401, code: 'REFRESH_TOKEN_REVOKED' })
  t.ok(revocations.isRevoked({ ...claims, sid: signed[0]?.sid }))
  t.match(await signIn(), { tokenType: 'Bearer' })
})

t.test('ends the session for a token older than the last replaced one, even within the grace period', async (t) => {
  const { signIn, refresh } = issuing()
  const first = await signIn()
  const second = await refresh(first.refreshToken)
  const third = await refresh(second.refreshToken)
  await t.rejects(refresh(first.refreshToken), { code: 'REFRESH_TOKEN_REUSED' })
  await t.rejects(refresh(third.refreshToken), { code: 'REFRESH_TOKEN_REVOKED' })
})

t.test('returns a token that the session never had at each refresh, and ends the session for each of the older ones', async (t) => {
  const { signIn, refresh } = issuing()
  for (const reused of [0, 1, 2, 3]) {
    const tokens = [(await signIn()).refreshToken]
    for (let count = 0; count < 5; count += 1) tokens.push((await refresh(tokens.at(-1) as string)).refreshToken)
    t.equal(new Set(tokens).size, 6)
    await t.rejects(refresh(tokens[reused] as string), { code: 'REFRESH_TOKEN_REUSED' }, `the token ${reused} of six`)
    for (const token of tokens) await t.rejects(refresh(token), { code: 'REFRESH_TOKEN_REVOKED' })
  }
})

t.test('binds a refresh token to the client that signed in', async (t) => {
  const { issuer, refresh, signed } = issuing()
  const request = { username: 'ada@example.com', password: 'correct horse battery staple' }
  const { refreshToken } = await issuer.issue(request, { clientId: 'kiosk' })
  const next = await refresh(refreshToken, 'kiosk')
  t.match(signed[1], { client_id: 'kiosk' })
  await t.rejects(refresh(next.refreshToken, 'other'), { statusCode: 401, code: 'REFRESH_TOKEN_REUSED' })
  await t.rejects(refresh(next.refreshToken, 'kiosk'), { code: 'REFRESH_TOKEN_REVOKED' })
})

t.test('expires a session after idleSeconds and after sessionSeconds', async (t) => {
  const { signIn, refresh, clock } = issuing({ idleSeconds: 100, sessionSeconds: 250 })
  const first = await signIn()
  clock.now += 99_999
  const second = await refresh(first.refreshToken)
  clock.now += 99_999
  const third = await refresh(second.refreshToken)
  clock.now += 50_002
  await t.rejects(refresh(third.refreshToken), { statusCode: 401, code: 'REFRESH_TOKEN_EXPIRED' })
  const rested = await signIn()
  clock.now += 100_000
  await t.rejects(refresh(rested.refreshToken), { code: 'REFRESH_TOKEN_EXPIRED' })
})

t.test('rejects tokens that were never issued, such as mistyped ones, and ends no session', async (t) => {
  const { signIn, refresh } = issuing()
  const { refreshToken } = await signIn()
  const other = refreshToken.endsWith('A') ? 'B' : 'A'
  const texts = [
    (await issuing().signIn()).refreshToken,
    refreshToken.slice(0, -1) + other,
    refreshToken.replace(/^(rt_.{40})(.)/, (_, start: string, letter: string) => start + (letter === 'A' ? 'B' : 'A')),
    refreshToken.slice(0, -1),
    `${refreshToken}=`,
    refreshToken.toUpperCase(),
    refreshToken.slice(3),
    `${refreshToken}\n`,
    'access 1',
    '💥'
  ]
  for (const text of texts) await t.rejects(refresh(text), { statusCode: 401, code: 'REFRESH_TOKEN_INVALID' }, text)
  t.match(await refresh(refreshToken), { tokenType: 'Bearer' })
})

t.test('stores no token and no part of one', async (t) => {
  const kept: unknown[] = []
  const { refreshTokens } = issuing()
  const { signIn, refresh } = issuing({
    refreshTokens: {
      ...refreshTokens,
      begin: (...received) => (kept.push(received), refreshTokens.begin(...received)),
      use: (received) => (kept.push(received), refreshTokens.use(received))
    }
  })
  const first = await signIn()
  const second = await refresh(first.refreshToken)
  const text = JSON.stringify(kept)
  for (const { refreshToken } of [first, second]) {
    t.equal(refreshToken.length, 75)
    const bytes = Buffer.from(refreshToken.slice(3), 'base64url')
    for (const part of [bytes.subarray(0, 16), bytes.subarray(16, 48)]) {
      for (const coding of ['base64', 'base64url', 'hex', 'latin1'] as const) t.notOk(text.includes(part.toString(coding).slice(0, 15)))
    }
  }
})

t.test('allows a change of the refresh key without ending sessions', async (t) => {
  const before = issuing()
  const { refreshTokens, revocations, users } = before
  const [old = ''] = refreshKeys
  const after = issuing({
    refreshKeys: ['kR7vZ8mB1xT6yW0rLd5uKc9nHs2gPf7aEo4i', old],
    refreshTokens,
    revocations,
    findUserById: () => users[0]
  })
  const only = issuing({
    refreshKeys: ['kR7vZ8mB1xT6yW0rLd5uKc9nHs2gPf7aEo4i'],
    refreshTokens,
    revocations,
    findUserById: () => users[0]
  })
  const first = await before.signIn()
  const second = await before.refresh(first.refreshToken)
  t.equal((await after.refresh(first.refreshToken)).refreshToken, second.refreshToken, 'computed with the old key')
  await t.rejects(only.refresh(first.refreshToken), { code: 'REFRESH_TOKEN_INVALID' }, 'without the old key it cannot be computed')
  t.match(await after.refresh(second.refreshToken), { tokenType: 'Bearer' })
})

t.test('ends the session and its access tokens when the user no longer exists', async (t) => {
  const { signIn, refresh, users, revocations, signed } = issuing()
  const { refreshToken } = await signIn()
  users.length = 0
  await t.rejects(refresh(refreshToken), { statusCode: 401, code: 'REFRESH_TOKEN_REVOKED' })
  t.ok(revocations.isRevoked({ ...claims, sid: signed[0]?.sid }))
})

t.test('ends only the session of a revoked refresh token or access token [U4]', async (t) => {
  const { issuer, signIn, refresh, revocations, signed } = issuing()
  const [one, two, other] = [await signIn(), await signIn(), await signIn()]
  t.equal(await issuer.revokeRefreshToken(one.refreshToken), true)
  await issuer.revokeAccessToken(signed[1] as { exp: number })
  for (const { refreshToken } of [one, two]) await t.rejects(refresh(refreshToken), { code: 'REFRESH_TOKEN_REVOKED' })
  t.strictSame(
    signed.slice(0, 3).map((token) => revocations.isRevoked(token)),
    [true, true, false]
  )
  t.match(await refresh(other.refreshToken), { tokenType: 'Bearer' })
})

t.test('revokes a session by its id, and a token without a session by its own id', async (t) => {
  const { issuer, signIn, refresh, revocations, signed } = issuing()
  const { refreshToken } = await signIn()
  await issuer.revokeSession(signed[0]?.sid as string)
  await t.rejects(refresh(refreshToken), { code: 'REFRESH_TOKEN_REVOKED' })
  await issuer.revokeAccessToken({ jti: 'j1', exp: 4_102_444_800 })
  t.ok(revocations.isRevoked({ ...claims, jti: 'j1' }))
  t.notOk(revocations.isRevoked({ ...claims, jti: 'j2' }))
  await t.resolves(issuer.revokeAccessToken({ exp: 0 }), 'a token without jti and sid')
})

t.test('changes nothing for a string that is not a refresh token, or an unknown one', async (t) => {
  const { issuer, signIn, refresh } = issuing()
  const { refreshToken } = await signIn()
  t.equal(await issuer.revokeRefreshToken('access 1'), false)
  t.equal(await issuer.revokeRefreshToken((await issuing().signIn()).refreshToken), true)
  t.match(await refresh(refreshToken), { tokenType: 'Bearer' })
})

t.test('ends the session of a token that was replaced long ago', async (t) => {
  const { issuer, signIn, refresh } = issuing()
  const first = await signIn()
  const second = await refresh(first.refreshToken)
  await issuer.revokeRefreshToken(first.refreshToken)
  await t.rejects(refresh(second.refreshToken), { code: 'REFRESH_TOKEN_REVOKED' })
})

for (const [name, end] of [
  ['a user', 'revokeSubject'],
  ['all users', 'revokeEverything']
] as const) {
  t.test(`revokes all tokens of ${name} immediately and allows a new sign-in in the same second [U4]`, async (t) => {
    const { issuer, signIn, refresh, revocations, signed } = issuing()
    // In real time: a sign-in waits for the next second.
    mock.timers.reset()
    const first = await signIn()
    await issuer[end]('u1')
    t.ok(revocations.isRevoked(signed[0] as { sub: string; iat: number }))
    await t.rejects(refresh(first.refreshToken), { code: 'REFRESH_TOKEN_REVOKED' })
    const again = await signIn()
    t.notOk(revocations.isRevoked(signed[1] as { sub: string; iat: number }))
    await refresh(again.refreshToken)
    t.notOk(revocations.isRevoked(signed[2] as { sub: string; iat: number }))
  })
}

t.test('revokes the tokens of a user that were issued in the same millisecond, at the beginning of a second', async (t) => {
  const { issuer, signIn, revocations, signed, clock } = issuing()
  clock.now = Math.ceil(clock.now / 1000) * 1000
  await signIn()
  await issuer.revokeSubject('u1')
  t.ok(revocations.isRevoked(signed[0] as { sub: string; iat: number }))
})

t.test('revokes the token of a refresh that runs before the sessions of the user have ended', async (t) => {
  const { refreshTokens } = issuing()
  const { issuer, signIn, refresh, revocations, signed } = issuing({
    refreshTokens: {
      ...refreshTokens,
      async revokeSubject(subject) {
        await refresh(refreshToken)
        await refreshTokens.revokeSubject(subject)
      }
    }
  })
  const { refreshToken } = await signIn()
  await issuer.revokeSubject('u1')
  t.equal(signed.length, 2)
  for (const token of signed) t.ok(revocations.isRevoked(token))
})

t.test('a session whose user was revoked elsewhere has ended for good, not only as long as the revocation is stored', async (t) => {
  let isRevoked = false
  const revocations = { isRevoked: () => isRevoked, revoke: async () => {} }
  const { signIn, refresh } = issuing({ revocations })
  const { refreshToken } = await signIn()
  isRevoked = true
  await t.rejects(refresh(refreshToken), { code: 'REFRESH_TOKEN_REVOKED' })
  isRevoked = false
  await t.rejects(refresh(refreshToken), { code: 'REFRESH_TOKEN_REVOKED' })
})

t.test('rejects a sign-in that runs while all sessions of the user are ended', async (t) => {
  const found = Promise.withResolvers<void>()
  const { issuer, signIn, users, signed } = issuing({
    findUser: async () => {
      await found.promise
      return users[0]
    }
  })
  const late = signIn()
  await issuer.revokeSubject('u1')
  found.resolve()
  await t.rejects(late, { code: 'REFRESH_TOKEN_REVOKED' })
  t.strictSame(signed, [])
})

t.test('returns no valid token for a refresh that runs while its session is ended', async (t) => {
  const { issuer, signIn, refresh, revocations, signed, users } = issuing({
    findUserById: async () => {
      await issuer.revokeSession(signed[0]?.sid as string)
      return users[0]
    }
  })
  const first = await signIn()
  await t.rejects(refresh(first.refreshToken), { code: 'REFRESH_TOKEN_REVOKED' })
  t.ok(revocations.isRevoked({ ...claims, sid: signed[0]?.sid }))
})

t.test('ends the session when the revocation store fails, and its access tokens with the next attempt', async (t) => {
  let down = true
  const known = new Set<string>()
  const revocations = {
    isRevoked: () => false,
    async revoke({ id }: { id: string }) {
      if (down) throw new Error('The store is down.')
      known.add(id)
    }
  }
  const { signIn, refresh, signed, clock } = issuing({ revocations })
  const first = await signIn()
  const second = await refresh(first.refreshToken)
  clock.now += 10_000
  await t.rejects(refresh(first.refreshToken), { message: 'The store is down.' })
  down = false
  await t.rejects(refresh(second.refreshToken), { code: 'REFRESH_TOKEN_REVOKED' })
  t.ok(known.has(signed[0]?.sid as string))
})
