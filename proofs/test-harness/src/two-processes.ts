import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Child } from './child.ts'
import type { Proxy } from './proxy.ts'
import { until } from './until.ts'

/** Maximum age of revocation data in the services of these tests. */
export const maxStalenessSeconds = 2
/** Number of requests per minute that an address has in these services. */
export const requestsPerMinute = 20

interface Session {
  readonly accessToken: string
  readonly refreshToken: string
}

async function signIn({ url }: Child, request: object = { username: 'ada', password: 'correct horse battery staple' }) {
  const response = await fetch(`${url}/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request)
  })
  return { status: response.status, ...((await response.json()) as Session & { code?: string }) }
}

function guess(child: Child) {
  return signIn(child, { username: 'bob', password: 'wrong horse battery staple' })
}

async function call({ url }: Child, { accessToken }: Session) {
  const response = await fetch(`${url}/orders`, { headers: { authorization: `Bearer ${accessToken}` } })
  const { code } = (await response.json()) as { code?: string }
  return { status: response.status, code, retryAfter: response.headers.get('retry-after') }
}

/** Repeats the request until the response has this status, and returns the response with the elapsed time. */
function sendUntil(child: Child, session: Session, status: number) {
  return sendUntilOne(child, session, (received) => received === status)
}

/** Repeats the request while the response is 503: a process that a busy machine has not run for a while must first read the revocations. */
function callInformed(child: Child, session: Session) {
  return sendUntilOne(child, session, (received) => received !== 503)
}

async function sendUntilOne(child: Child, session: Session, isExpected: (status: number) => boolean) {
  const startedAt = performance.now()
  let response = await call(child, session)
  await until(async () => {
    if (!isExpected(response.status)) response = await call(child, session)
    return isExpected(response.status)
  })
  return { ...response, milliseconds: performance.now() - startedAt }
}

function claimsOf({ accessToken }: Session) {
  const [, payload = ''] = accessToken.split('.')
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as { jti: string; sid: string; exp: number }
}

async function statusOf({ url }: Child) {
  return (await fetch(`${url}/orders`)).status
}

const ways: Readonly<Record<string, (session: Session) => string>> = {
  token: (session) => `/jtis/${claimsOf(session).jti}?exp=${claimsOf(session).exp}`,
  session: (session) => `/sessions/${claimsOf(session).sid}`,
  subject: () => '/subjects/ada',
  everything: () => '/everything'
}

/** Two processes with the same stores. `there` connects to them through the proxy. */
export interface ProtectedProcesses {
  readonly here: Child
  readonly there: Child
  readonly proxy: Proxy
}

/** Tests two processes of `serveProtected` that share their revocations. */
export async function testRevocations(t: Test, { here, there, proxy }: ProtectedProcesses): Promise<void> {
  await t.test('a process rejects what another process has revoked [U4]', async (t) => {
    for (const [way, path] of Object.entries(ways)) {
      const session = await signIn(here)
      t.match(await Promise.all([callInformed(here, session), callInformed(there, session)]), [{ status: 200 }, { status: 200 }])
      t.equal((await fetch(here.url + path(session), { method: 'DELETE' })).status, 200)
      const refused = await sendUntil(there, session, 401)
      t.match(refused, { code: 'TOKEN_REVOKED' })
      t.comment(`by ${way}: ${Math.round(refused.milliseconds)} ms`)
      t.match(await callInformed(here, session), { status: 401, code: 'TOKEN_REVOKED' })
    }
  })

  await t.test('a process without new revocation data responds with 503 before its data is too old, and recovers [U4]', async (t) => {
    const [kept, revoked] = [await signIn(here), await signIn(here)]
    t.match(await Promise.all([callInformed(there, kept), callInformed(there, revoked)]), [{ status: 200 }, { status: 200 }])
    proxy.cut()
    const silent = await sendUntil(there, kept, 503)
    t.match(silent, { code: 'AUTHENTICATION_UNAVAILABLE', retryAfter: String(maxStalenessSeconds) })
    t.comment(`503 after ${Math.round(silent.milliseconds)} ms, with data that may be ${maxStalenessSeconds} s old`)
    await fetch(`${here.url}/sessions/${claimsOf(revoked).sid}`, { method: 'DELETE' })
    t.match(await Promise.all([callInformed(here, kept), call(there, revoked)]), [{ status: 200 }, { status: 503 }])
    proxy.heal()
    t.comment(`recovered after ${Math.round((await sendUntil(there, kept, 200)).milliseconds)} ms`)
    t.match(
      await call(there, revoked),
      { status: 401, code: 'TOKEN_REVOKED' },
      'the first new data includes what was revoked in the meantime'
    )
    const late = await signIn(here)
    t.match(await callInformed(there, late), { status: 200 })
    await fetch(`${here.url}/sessions/${claimsOf(late).sid}`, { method: 'DELETE' })
    t.match(await sendUntil(there, late, 401), { code: 'TOKEN_REVOKED' })
    t.ok(there.runs())
  })

  await t.test('with a timeout, silently lost connections are replaced [U4]', async (t) => {
    const session = await signIn(here)
    t.match(await callInformed(there, session), { status: 200 })
    proxy.cut()
    await sendUntil(there, session, 503)
    proxy.healForNew()
    t.comment(`recovered after ${Math.round((await sendUntil(there, session, 200)).milliseconds)} ms`)
    t.ok(there.runs())
  })
}

/** Tests two processes of `serveProtected` that share all their stores, also after their connections were lost. */
export async function testSessions(t: Test, { here, there }: Omit<ProtectedProcesses, 'proxy'>): Promise<void> {
  await t.test('a session of one process continues in another, and ends there when it is revoked in the first [U3, U4]', async (t) => {
    const first = await signIn(here)
    const second = await signIn(there, { refreshToken: first.refreshToken })
    t.match(await callInformed(here, second), { status: 200 })
    await fetch(`${here.url}/sessions/${claimsOf(first).sid}`, { method: 'DELETE' })
    t.match(await signIn(there, { refreshToken: second.refreshToken }), { status: 401, code: 'REFRESH_TOKEN_REVOKED' })
  })

  await t.test('the limit of login attempts counts all processes together', async (t) => {
    for (let n = 0; n < 5; n += 1) {
      for (const child of [here, there]) t.match(await guess(child), { status: 401, code: 'INVALID_CREDENTIALS' })
    }
    for (const child of [here, there]) t.match(await guess(child), { status: 429, code: 'LOGIN_ATTEMPTS_EXCEEDED' })
  })
}

/** Two processes that count in the same store, to which they connect through the proxy. */
export interface CountingProcesses {
  /** Counts locally while the store fails. */
  readonly lenient: Child
  /** Rejects requests while the store fails. */
  readonly strict: Child
  readonly proxy: Proxy
}

/** Tests two processes of `serveCounted`. */
export async function testCounting(t: Test, { lenient, strict, proxy }: CountingProcesses): Promise<void> {
  await t.test('the limit applies to the requests of both processes together [X5]', async (t) => {
    const statuses = await Promise.all(Array.from({ length: 30 }, (_, n) => statusOf(n % 2 === 0 ? lenient : strict)))
    const countOf = (wanted: number) => statuses.filter((status) => status === wanted).length
    t.strictSame([countOf(200), countOf(429)], [requestsPerMinute, 30 - requestsPerMinute])
  })

  await t.test(
    'without the store, one process limits locally, the other responds with 503 as configured, and both recover [X5]',
    async (t) => {
      proxy.cut()
      const [alone, refused] = await Promise.all([statusOf(lenient), fetch(`${strict.url}/orders`)])
      t.equal(alone, 200)
      t.match([refused.status, refused.headers.get('retry-after'), await refused.json()], [503, '1', { code: 'RATE_LIMIT_UNAVAILABLE' }])
      proxy.heal()
      await until(async () => (await statusOf(strict)) !== 503)
      t.equal(await statusOf(strict), 429)
      let passed = 1
      // Waits between requests: the local count has the same limit, and reaching it would look like the shared count.
      for (; (await statusOf(lenient)) === 200; passed += 1) await delay(200)
      t.ok(passed < requestsPerMinute, `${passed} passed before it used the shared count again`)
      t.ok(lenient.runs() && strict.runs())
    }
  )
}
