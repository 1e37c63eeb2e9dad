import { isApiError } from '@concordat/plugin-kit/api-error'
import {
  canonicalUsername,
  memoryLoginAttemptStore,
  memoryRefreshTokenStore,
  passwords,
  type TokenIssuer,
  tokenIssuer,
  tokenIssuingErrors
} from '@concordat/token-issuing'
import { hash as argon2Hash, hashSync } from '@node-rs/argon2'
import t from 'tap'
import { issuing, password, refreshKeys } from './issuing.ts'

const wrong = 'incorrect horse battery staple'

/** Returns the part of an error that a client receives. */
async function refusal(response: Promise<unknown>) {
  const error = await response.then(
    () => t.bailout('It was accepted.'),
    (thrown: unknown) => thrown
  )
  if (!isApiError(error)) throw error
  const { statusCode, code, message, headers, errors } = error
  return { statusCode, code, message, headers, fields: errors.map(({ field }) => field) }
}

t.test('returns both tokens and the lifetime in seconds for a username and password [E6] [X7] [U3]', async (t) => {
  const { signIn, signed, clock } = issuing()
  const response = await signIn()
  t.strictSame(Object.keys(response), ['accessToken', 'tokenType', 'expiresIn', 'refreshToken'])
  t.match(response, { accessToken: 'access 1', tokenType: 'Bearer', expiresIn: 900, refreshToken: /^rt_[\w-]{72}$/ })
  const iat = Math.floor(clock.now / 1000)
  t.match(signed, [{ sub: 'u1', iat, nbf: iat, exp: iat + 900, scope: 'orders:read orders:create', roles: ['customer'] }])
  t.match(signed[0], { jti: /^[\da-f-]{36}$/, sid: /^[\da-f-]{36}$/ })
  t.notOk('client_id' in (signed[0] as object))
})

t.test('an access token that authentication could not accept is an error of the service', async (t) => {
  for (const length of [16_384, 16_385]) {
    const { signIn } = issuing({ sign: async () => 'a'.repeat(length) })
    if (length === 16_384) t.equal((await signIn()).accessToken.length, length)
    else
      await t.rejects(signIn(), {
        name: 'TypeError',
        message:
          'token-issuing: an access token would have more than 16384 characters. Give the user roles in place of so many permissions, or fewer claims.'
      })
  }
})

t.test('an access token has the claims of the user, as they are at the sign-in and at each refresh', async (t) => {
  const { signIn, refresh, signed, users } = issuing()
  users[0] = { ...users[0], id: 'u1', claims: { org: 'acme', plan: { seats: 3 } } }
  const { refreshToken } = await signIn()
  users[0] = { ...users[0], claims: { org: 'other' } }
  await refresh(refreshToken)
  t.match(signed, [
    { sub: 'u1', org: 'acme', plan: { seats: 3 } },
    { sub: 'u1', org: 'other' }
  ])
  t.notOk('plan' in (signed[1] as object), 'nothing is copied from the token before')
})

t.test('a claim of the user cannot replace one that the issuer or a standard defines', async (t) => {
  const names = [
    'iss',
    'sub',
    'aud',
    'exp',
    'nbf',
    'iat',
    'jti',
    'sid',
    'client_id',
    'scope',
    'roles',
    'azp',
    'appid',
    'typ',
    'token_use',
    'nonce'
  ]
  for (const name of names) {
    const { signIn, users, signed } = issuing()
    users[0] = { ...users[0], id: 'u1', claims: { org: 'acme', [name]: 'x' } }
    await t.rejects(signIn(), {
      name: 'TypeError',
      message: `token-issuing: the claims of the user u1 contain "${name}", which the issuer or a standard defines. Rename it.`
    })
    t.strictSame(signed, [])
  }
})

t.test('names a known client in the access token, and omits scope for a user without permissions', async (t) => {
  const { issuer, users, signed } = issuing()
  users[0] = { id: 'u1', passwordHash: users[0]?.passwordHash }
  await issuer.issue({ username: 'ada@example.com', password }, { clientId: 'kiosk', address: '192.0.2.1' })
  t.match(signed, [{ client_id: 'kiosk', scope: undefined, roles: undefined }])
})

t.test('returns the same error for a wrong password, an unknown user and a user without a password', async (t) => {
  const { issuer, users } = issuing({ findUser: (name) => (name === 'no password' ? { id: 'u2' } : name === 'ada' ? users[0] : undefined) })
  const refusals = await Promise.all(
    ['ada', 'nobody', 'no password'].map((username) => refusal(issuer.issue({ username, password: wrong })))
  )
  const expected = {
    statusCode: 401,
    code: 'INVALID_CREDENTIALS',
    message: 'The username or password is incorrect. Check both, then try again.',
    headers: { 'cache-control': 'no-store', 'www-authenticate': 'Bearer realm="api"' },
    fields: []
  }
  t.strictSame(refusals, [expected, expected, expected])
})

t.test('performs one comparison for each of them, and for a password that no user can have', async (t) => {
  const { compare, hash } = passwords()
  const stored = await hash(password)
  const tries: [string, string | undefined][] = [
    [wrong, stored],
    [wrong, undefined],
    [wrong, 'no hash'],
    ['x'.repeat(1000), stored],
    ['\ud800'.padEnd(20), stored]
  ]
  // Counted by the queue: two run and 64 wait. With 61 others, the five fill it, so each performs a comparison.
  const verdicts = tries.map(([typed, hashed]) => compare(typed, hashed))
  const others = Array.from({ length: 61 }, () => compare(password, stored))
  await t.rejects(compare(password, stored), { code: 'LOGINS_OVERLOADED' })
  t.strictSame(await Promise.all(verdicts), ['wrong', 'wrong', 'wrong', 'wrong', 'wrong'])
  t.strictSame(new Set(await Promise.all(others)), new Set(['right']))
  t.equal(await compare(password, stored), 'right')
})

t.test('a refused sign-in performs one comparison, whatever the reason, and a check of a password too', async (t) => {
  const stored = await passwords().hash(password)
  const users: Readonly<Record<string, string | undefined>> = {
    ada: stored,
    bare: undefined,
    empty: '',
    foreign: '$2b$12$abcdefghijklmnopqrstuuKq9W2vE1xg0H2qS6i4m1cD0Yt8Zb5yW'
  }
  const findUser = (name: string) =>
    name === 'null'
      ? { id: name, passwordHash: null as never }
      : Object.hasOwn(users, name)
        ? { id: name, passwordHash: users[name] }
        : undefined
  const tries: [string, string][] = [
    ...['ada', 'nobody', 'bare', 'empty', 'foreign', 'null'].map((name): [string, string] => [name, wrong]),
    ['nobody', '\u0001'],
    ['ada', 'x'.repeat(1000)],
    ['nobody', 'x'.repeat(1000)]
  ]
  const { issuer } = issuing({ findUser, attempts: { perAccount: { limit: 1000 }, perAccountAndAddress: { limit: 1000 } } })
  const refused = tries.flatMap(([username, typed]) => [
    refusal(issuer.issue({ username, password: typed })),
    refusal(issuer.checkPassword(username, typed))
  ])
  // Two are compared and 64 wait: these fill the queue only if each of them is compared.
  const others = Array.from({ length: 66 - refused.length }, () => refusal(issuer.checkPassword('ada', wrong)))
  t.match(await refusal(issuer.checkPassword('nobody', wrong)), { code: 'LOGINS_OVERLOADED' })
  for (const one of await Promise.all([...refused, ...others])) t.match(one, { code: 'INVALID_CREDENTIALS' })
})

t.test('a wrong password for a hash of lower cost takes as much work as an unknown user', async (t) => {
  const { compare } = passwords()
  const weak = await Promise.all(
    [
      { memoryCost: 1024, timeCost: 1 },
      { memoryCost: 19_456, timeCost: 1 },
      { memoryCost: 8192, timeCost: 2 }
    ].map((cost) => argon2Hash(password, cost))
  )
  // Processor time, because the time that passes depends on what else the machine does.
  const work = async (stored: string | undefined) => {
    const before = process.cpuUsage()
    t.equal(await compare(wrong, stored), 'wrong')
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  const least = new Map<string | undefined, number>()
  for (let round = 0; round < 7; round += 1)
    for (const stored of [undefined, ...weak])
      least.set(stored, Math.min(await work(stored), least.get(stored) ?? Number.POSITIVE_INFINITY))
  const unknown = least.get(undefined) as number
  for (const stored of weak) {
    const spent = least.get(stored) as number
    t.ok(spent > unknown * 0.7, `${stored.slice(0, 30)} ${spent} µs, unknown ${unknown} µs`)
  }
})

t.test('returns 422 that names the members for an invalid token request', async (t) => {
  const { issuer } = issuing()
  const requests: [unknown, string[]][] = [
    [{}, ['body.username', 'body.password']],
    [{ username: 'ada@example.com' }, ['body.password']],
    [{ username: '', password }, ['body.username']],
    [{ username: 'a\0', password }, ['body.username']],
    [{ username: 'x'.repeat(1025), password: 'x'.repeat(1025) }, ['body.username', 'body.password']],
    [{ username: ['ada@example.com'], password: { length: 1 } }, ['body.username', 'body.password']],
    [{ refreshToken: 5 }, ['body.refreshToken']],
    [{ refreshToken: null }, ['body.refreshToken']],
    [{ username: 'ada@example.com', password, refreshToken: 'x' }, ['body.refreshToken']]
  ]
  for (const [request, fields] of requests) {
    t.match(
      await refusal(issuer.issue(request as Parameters<TokenIssuer['issue']>[0])),
      { statusCode: 422, code: 'INVALID_TOKEN_REQUEST', fields },
      JSON.stringify(request)
    )
  }
})

t.test('limits failed attempts per account, known or not, and forgives them gradually [X5]', async (t) => {
  const { issuer, clock, signIn } = issuing({ attempts: { perAccount: { limit: 2, windowSeconds: 20 } } })
  const limited = {
    statusCode: 429,
    code: 'LOGIN_ATTEMPTS_EXCEEDED',
    message: 'There were too many failed sign-in attempts. Try again in 10 seconds.',
    headers: { 'cache-control': 'no-store', 'retry-after': '10' },
    fields: []
  }
  for (const username of ['ada@example.com', 'nobody@example.com']) {
    const attempt = (spelling: string) => refusal(issuer.issue({ username: spelling, password: wrong }))
    t.equal((await attempt(username)).statusCode, 401)
    t.equal((await attempt(` ${username.toUpperCase()}`)).statusCode, 401)
    t.strictSame(await attempt(username), limited)
  }
  t.strictSame(await refusal(signIn()), limited)
  clock.now += 9999
  t.match(await refusal(signIn()), { statusCode: 429, headers: { 'retry-after': '1' } })
  clock.now += 1
  t.match(await signIn(), { tokenType: 'Bearer' })
})

t.test('every spelling that a directory could equate with a name counts as the same name', async (t) => {
  const asked: string[] = []
  const { issuer } = issuing({
    attempts: { perAccount: { limit: 10_000, windowSeconds: 60 }, perAccountAndAddress: { limit: 10, windowSeconds: 60 } },
    // A directory that equates even more than the canonical form does.
    findUser: (name) => void asked.push(name)
  })
  const spellings: string[] = []
  const unstable: string[] = []
  for (let point = 0; point <= 0x10ffff; point += 1) {
    if (point >= 0xd800 && point <= 0xdfff) continue
    const letter = String.fromCodePoint(point)
    if (canonicalUsername(canonicalUsername(letter)) !== canonicalUsername(letter)) unstable.push(letter)
    const equated = [letter.toLowerCase(), letter.toUpperCase().toLowerCase(), letter.normalize('NFKC').toLowerCase()]
    if (equated.some((one) => one.normalize('NFD').startsWith('i'))) spellings.push(letter)
  }
  t.strictSame(unstable, [])
  t.ok(spellings.length > 40, `${spellings.length} spellings of i`)
  for (const letter of spellings) await refusal(issuer.issue({ username: `${letter}da`, password: wrong }))
  const perName = Map.groupBy(asked, (name) => name)
  t.ok([...perName.values()].every((names) => names.length <= 10))
  t.equal(perName.get('ida')?.length, 10)
  t.notOk(perName.has('İda') || perName.has('Ida'))
})

t.test('somebody else cannot lock a user out from another address [X5]', async (t) => {
  const { issuer, signIn } = issuing()
  const guess = (address: string) => refusal(issuer.issue({ username: 'ada@example.com', password: wrong }, { address }))
  for (let count = 0; count < 10; count += 1) t.equal((await guess('198.51.100.9')).statusCode, 401)
  for (let count = 0; count < 20; count += 1) t.equal((await guess('198.51.100.9')).statusCode, 429)
  t.match(await signIn(), { tokenType: 'Bearer' })
  const statuses: number[] = []
  for (let host = 0; host < 12; host += 1)
    for (let count = 0; count < 10; count += 1) statuses.push((await guess(`203.0.113.${host}`)).statusCode)
  t.equal(statuses.filter((status) => status === 401).length, 90, 'a hundred from all addresses')
})

t.test('counts concurrent attempts before any is verified', async (t) => {
  const { issuer } = issuing({ attempts: { perAccount: { limit: 3, windowSeconds: 60 } } })
  const guesses = Array.from({ length: 12 }, () => refusal(issuer.issue({ username: 'ada@example.com', password: wrong })))
  const statuses = (await Promise.all(guesses)).map(({ statusCode }) => statusCode)
  t.equal(statuses.filter((status) => status === 401).length, 3)
  t.equal(statuses.filter((status) => status === 429).length, 9)
})

t.test('limits failed attempts per address over many accounts, and per network for IPv6', async (t) => {
  const groups = [
    ['192.0.2.1', '::ffff:192.0.2.1'],
    ['2001:db8::1', '2001:0DB8:0:0:ffff::2', '2001:db8:0:0:1:2:3:4%eth0'],
    ['::1', '0:0:0:0:1::']
  ]
  for (const [one = '', ...others] of groups) {
    const { issuer } = issuing({ attempts: { perAddress: { limit: 1, windowSeconds: 60 } } })
    const attempt = (username: string, address: string) => refusal(issuer.issue({ username, password: wrong }, { address }))
    t.equal((await attempt('a', one)).statusCode, 401, one)
    for (const address of others) t.equal((await attempt(address, address)).statusCode, 429, address)
    t.equal((await attempt('b', '2001:db8:0:1::1')).statusCode, 401)
    t.equal((await attempt('c', '198.51.100.1')).statusCode, 401)
  }
})

t.test('does not count successful sign-ins and attempts that were not verified', async (t) => {
  let broken = false
  const { signIn, users } = issuing({
    attempts: { perAccount: { limit: 1, windowSeconds: 60 } },
    findUser: () => {
      if (broken) throw new Error('The directory is down.')
      return users[0]
    }
  })
  await signIn()
  broken = true
  await t.rejects(signIn(), { message: 'The directory is down.' })
  broken = false
  await t.resolves(signIn())
})

t.test('returns 503 immediately when the queue of sign-ins is full', async (t) => {
  const { signIn } = issuing({ attempts: { perAccountAndAddress: { limit: 100 } } })
  const outcomes = await Promise.allSettled(Array.from({ length: 68 }, signIn))
  t.strictSame(
    outcomes.map(({ status }) => status),
    [...Array.from({ length: 66 }, () => 'fulfilled'), 'rejected', 'rejected']
  )
  t.match(outcomes[67], { reason: { statusCode: 503, code: 'LOGINS_OVERLOADED', headers: { 'retry-after': '2' } } })
  t.match(await signIn(), { tokenType: 'Bearer' }, 'the queue is empty again')
})

t.test('replaces a hash of lower cost when its password is known, and signs in even if that fails [U8]', async (t) => {
  const weak = await argon2Hash(password, { memoryCost: 8192, timeCost: 1 })
  const stored: string[] = []
  const failures: unknown[] = []
  let fail = false
  const { signIn, users } = issuing({
    onRehash: (user, hash) => {
      if (fail) throw new Error('The directory is read-only.')
      stored.push(`${user.id} ${hash}`)
    },
    onError: (error) => failures.push(error)
  })
  users[0] = { id: 'u1', passwordHash: weak }
  await signIn()
  t.match(stored, [/^u1 \$argon2id\$v=19\$m=19456,t=2,p=1\$/])
  users[0] = { id: 'u1', passwordHash: (stored[0] as string).slice(3) }
  await signIn()
  t.equal(stored.length, 1, 'a hash of the current cost stays')
  fail = true
  users[0] = { id: 'u1', passwordHash: weak }
  t.match(await signIn(), { tokenType: 'Bearer' })
  t.match(failures, [{ message: 'The directory is read-only.' }])
  const quiet = issuing({ onRehash: () => Promise.reject(new Error('The directory is read-only.')) })
  quiet.users[0] = { id: 'u1', passwordHash: weak }
  t.match(await quiet.signIn(), { tokenType: 'Bearer' })
  const careless = issuing()
  careless.users[0] = { id: 'u1', passwordHash: weak }
  t.match(await careless.signIn(), { tokenType: 'Bearer' })
})

t.test('hashes passwords with argon2id, a random salt and OWASP’s cost [U8]', async (t) => {
  const { hash, compare } = passwords()
  const [one, two] = await Promise.all([hash(password), hash(password)])
  t.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  t.not(one, two)
  t.equal(await compare(password, one), 'right')
  const other = '$argon2i$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$2GD4NRwQ0xNKr8dydaBZrX2kSAUyeP0HBN+v2a6toOs'
  t.equal(await compare(password, other), 'outdated', 'argon2i')
  t.equal(await compare(password, hashSync(password, { memoryCost: 19_456, timeCost: 2, outputLen: 16 })), 'outdated')
  t.equal(await compare(password, hashSync(password, { memoryCost: 19_456, timeCost: 1 })), 'outdated')
  t.equal(await compare(password, hashSync(password, { memoryCost: 19_455, timeCost: 2 })), 'outdated')
  t.equal(await compare(password, hashSync(password, { memoryCost: 19_456, timeCost: 2, salt: Buffer.alloc(8, 1) })), 'outdated')
  t.equal(await compare(password, hashSync(password, { memoryCost: 47_104, timeCost: 3, parallelism: 2 })), 'right', 'a higher cost')
})

t.test('treats composed and decomposed passwords as equal, but not similar ones', async (t) => {
  const { hash, compare } = passwords()
  const stored = await hash('contraseña larga ﬁna')
  t.equal(await compare('contraseña\u00a0larga ﬁna'.normalize('NFD'), stored), 'right')
  t.equal(await compare('contraseña larga fina', stored), 'wrong')
  t.equal(await compare('Contraseña larga ﬁna', stored), 'wrong')
})

t.test('limits the length of a new password in characters, and accepts an existing shorter one', async (t) => {
  const { hash, compare } = passwords()
  const faults: [string, string, object][] = [
    ['x'.repeat(14), 'passwordTooShort', { minimum: 15 }],
    ['😀'.repeat(14), 'passwordTooShort', { minimum: 15 }],
    ['x'.repeat(257), 'passwordTooLong', { maximum: 256 }],
    ['x'.repeat(100_000), 'passwordTooLong', { maximum: 256 }],
    [`${'x'.repeat(20)}\udc00`, 'passwordIllFormed', {}]
  ]
  for (const [text, key, params] of faults) {
    await t.rejects(hash(text, 'body.newPassword'), {
      statusCode: 422,
      code: 'PASSWORD_UNACCEPTABLE',
      errors: [{ field: 'body.newPassword', key, params }]
    })
  }
  await t.rejects(hash(''), { errors: [{ field: 'body.password' }] })
  const longest = '😀'.repeat(256)
  t.equal(await compare(longest, await hash(longest)), 'right')
  t.equal(await compare('short', await argon2Hash('short')), 'right')
})

t.test('rejects an invalid minimum length', async (t) => {
  for (const minLength of [7, 257])
    t.throws(() => passwords({ minLength }), `token-issuing: options.minLength must be an integer from 8 to 256, but is ${minLength}.`)
  await t.resolves(passwords({ minLength: 8 }).hash('12345678'))
})

const start = (input: object) => () => issuing(input)

t.test('rejects missing stores', async (t) => {
  const loginAttempts = memoryLoginAttemptStore()
  for (const stores of [undefined, {}, { loginAttempts }, { refreshTokens: memoryRefreshTokenStore() }]) {
    t.throws(start({ stores }), /^token-issuing: options\.stores must have refreshTokens, a RefreshTokenStore, and loginAttempts, a Login/)
  }
})

t.test('rejects weak refresh keys and invalid times', async (t) => {
  t.throws(start({ refreshKeys: [] }), /options\.refreshKeys must be a non-empty array/)
  t.throws(start({ refreshKeys: undefined }), /options\.refreshKeys must be a non-empty array/)
  t.throws(
    start({ refreshKeys: [...refreshKeys, 'short'] }),
    /options\.refreshKeys\[1\] has 5 bytes and needs at least 32\. Create a secret with: openssl/
  )
  t.throws(start({ refreshKeys: ['secret'.repeat(10)] }), /options\.refreshKeys\[0\] repeats itself/)
  t.throws(start({ refreshKeys: ['a-string-secret-at-least-256-bits-long'] }), /options\.refreshKeys\[0\] is published as an example/)
  t.throws(start({ refreshKeys: ['development only: a very long secret!'] }), /options\.refreshKeys\[0\] consists of words/)
  t.throws(start({ refreshKeys: [7 as never] }), /options\.refreshKeys\[0\] must be a string or bytes/)
  t.throws(start({ lifetimeSeconds: 86_401 }), /options\.lifetimeSeconds must be an integer from 1 to 86400, but is 86401/)
  t.throws(start({ sessionSeconds: 0 }), /options\.sessionSeconds must be a number from 1 to 34560000, but is 0/)
  t.throws(start({ idleSeconds: 0 }), /options\.idleSeconds must be a number from 1 to 34560000, but is 0/)
  t.throws(
    start({ attempts: { perAccount: { limit: 0, windowSeconds: 1 } } }),
    /options\.attempts\.perAccount\.limit must be an integer from 1 to 10000, but is 0/
  )
  t.throws(
    start({ attempts: { perAddress: { limit: 1, windowSeconds: 0 } } }),
    /options\.attempts\.perAddress\.windowSeconds must be a number from 1 to 86400, but is 0/
  )
})

t.test('uses the system clock by default', async (t) => {
  const { signed, users, refreshTokens, revocations } = issuing()
  const issuer = tokenIssuer({
    sign: async (claims) => String(signed.push(claims)),
    findUser: () => users[0],
    findUserById: () => users[0],
    refreshKeys,
    stores: { refreshTokens, loginAttempts: memoryLoginAttemptStore() },
    revocations
  })
  const before = Math.floor(Date.now() / 1000)
  await issuer.issue({ username: 'ada', password })
  t.ok((signed[0]?.iat as number) >= before)
})

t.test('has a message in English and Spanish for every error', async (t) => {
  for (const [code, { message }] of Object.entries(tokenIssuingErrors.definitions)) t.strictSame(Object.keys(message), ['en', 'es'], code)
  for (const [key, texts] of Object.entries(tokenIssuingErrors.fieldMessages)) t.strictSame(Object.keys(texts), ['en', 'es'], key)
})
