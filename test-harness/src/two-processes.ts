import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Child } from './child.ts'
import type { Proxy } from './proxy.ts'
import { until } from './until.ts'

/** How old the news of revocations may be in the services of these tests. */
export const maxStalenessSeconds = 2
/** How many requests an address has in them. */
export const requestsPerMinute = 20

interface Session {
  readonly accessToken: string
  readonly refreshToken: string
}

async function signIn({ url }: Child, request: object = { username: 'ada', password: 'correct horse battery staple' }) {
  const answer = await fetch(`${url}/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request)
  })
  return { status: answer.status, ...((await answer.json()) as Session & { code?: string }) }
}

function guess(child: Child) {
  return signIn(child, { username: 'bob', password: 'wrong horse battery staple' })
}

async function ask({ url }: Child, { accessToken }: Session) {
  const answer = await fetch(`${url}/orders`, { headers: { authorization: `Bearer ${accessToken}` } })
  const { code } = (await answer.json()) as { code?: string }
  return { status: answer.status, code, retryAfter: answer.headers.get('retry-after') }
}

/** Sends the request until the response has this status, and returns it with the time it took. */
async function askUntil(child: Child, session: Session, status: number) {
  const startedAt = performance.now()
  let answer = await ask(child, session)
  await until(async () => {
    if (answer.status !== status) answer = await ask(child, session)
    return answer.status === status
  })
  return { ...answer, milliseconds: performance.now() - startedAt }
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

/** Two processes on the same stores; `there` reaches them through the proxy. */
export interface ProtectedProcesses {
  readonly here: Child
  readonly there: Child
  readonly proxy: Proxy
}

/** Tests two processes of `serveProtected`. */
export async function testProtection(t: Test, { here, there, proxy }: ProtectedProcesses): Promise<void> {
  await t.test('what one process revokes, another refuses within a second [U4]', async (t) => {
    for (const [way, path] of Object.entries(ways)) {
      const session = await signIn(here)
      t.match(await Promise.all([ask(here, session), ask(there, session)]), [{ status: 200 }, { status: 200 }])
      t.equal((await fetch(here.url + path(session), { method: 'DELETE' })).status, 200)
      const refused = await askUntil(there, session, 401)
      t.match(refused, { code: 'TOKEN_REVOKED' })
      t.ok(refused.milliseconds < 1000, `by ${way}: ${Math.round(refused.milliseconds)} ms`)
      t.match(await ask(here, session), { status: 401, code: 'TOKEN_REVOKED' })
    }
  })

  await t.test('a session that began on one goes on at another, and ends there when it ended here [U3, U4]', async (t) => {
    const first = await signIn(here)
    const second = await signIn(there, { refreshToken: first.refreshToken })
    t.match(await ask(here, second), { status: 200 })
    await fetch(`${here.url}/sessions/${claimsOf(first).sid}`, { method: 'DELETE' })
    t.match(await signIn(there, { refreshToken: second.refreshToken }), { status: 401, code: 'REFRESH_TOKEN_REVOKED' })
  })

  await t.test('whoever guesses a password has so many attempts on all processes together', async (t) => {
    for (let n = 0; n < 5; n += 1) {
      for (const child of [here, there]) t.match(await guess(child), { status: 401, code: 'INVALID_CREDENTIALS' })
    }
    for (const child of [here, there]) t.match(await guess(child), { status: 429, code: 'LOGIN_ATTEMPTS_EXCEEDED' })
  })

  await t.test('cut off from the news, a process answers 503 before they are too old, and heals by itself [U4]', async (t) => {
    const [kept, revoked] = [await signIn(here), await signIn(here)]
    t.match(await Promise.all([ask(there, kept), ask(there, revoked)]), [{ status: 200 }, { status: 200 }])
    proxy.cut()
    const silent = await askUntil(there, kept, 503)
    t.match(silent, { code: 'AUTHENTICATION_UNAVAILABLE', retryAfter: String(maxStalenessSeconds) })
    const allowed = maxStalenessSeconds * 1000
    t.ok(silent.milliseconds < allowed + 1000, `503 after ${Math.round(silent.milliseconds)} ms, with news that may be ${allowed} ms old`)
    await fetch(`${here.url}/sessions/${claimsOf(revoked).sid}`, { method: 'DELETE' })
    t.match(await Promise.all([ask(here, kept), ask(there, revoked)]), [{ status: 200 }, { status: 503 }])
    proxy.heal()
    t.comment(`healed after ${Math.round((await askUntil(there, kept, 200)).milliseconds)} ms`)
    t.match(await ask(there, revoked), { status: 401, code: 'TOKEN_REVOKED' }, 'what was revoked meanwhile is known with the first news')
    const late = await signIn(here)
    t.match(await ask(there, late), { status: 200 })
    await fetch(`${here.url}/sessions/${claimsOf(late).sid}`, { method: 'DELETE' })
    t.match(await askUntil(there, late, 401), { code: 'TOKEN_REVOKED' })
    t.ok(there.runs())
  })

  await t.test('connections that are lost without a word are replaced, where a timeout is set [U4]', async (t) => {
    const session = await signIn(here)
    t.match(await ask(there, session), { status: 200 })
    proxy.cut()
    await askUntil(there, session, 503)
    proxy.healForNew()
    t.comment(`healed after ${Math.round((await askUntil(there, session, 200)).milliseconds)} ms`)
    t.match(await signIn(there, { refreshToken: session.refreshToken }), { status: 200 })
    t.ok(there.runs())
  })
}

/** Two processes that count in the same store, which they reach through the proxy. */
export interface CountingProcesses {
  /** Counts by itself while the store fails. */
  readonly lenient: Child
  /** Refuses requests while the store fails. */
  readonly strict: Child
  readonly proxy: Proxy
}

/** Tests two processes of `serveCounted`. */
export async function testCounting(t: Test, { lenient, strict, proxy }: CountingProcesses): Promise<void> {
  await t.test('of the requests to both, as many pass as the limit says [X5]', async (t) => {
    const statuses = await Promise.all(Array.from({ length: 30 }, (_, n) => statusOf(n % 2 === 0 ? lenient : strict)))
    const countOf = (wanted: number) => statuses.filter((status) => status === wanted).length
    t.strictSame([countOf(200), countOf(429)], [requestsPerMinute, 30 - requestsPerMinute])
  })

  await t.test(
    'cut off from the counts, one keeps the limit alone, one that was told so answers 503, and both heal by themselves [X5]',
    async (t) => {
      proxy.cut()
      const [alone, refused] = await Promise.all([statusOf(lenient), fetch(`${strict.url}/orders`)])
      t.equal(alone, 200)
      t.match([refused.status, refused.headers.get('retry-after'), await refused.json()], [503, '1', { code: 'RATE_LIMIT_UNAVAILABLE' }])
      proxy.heal()
      await until(async () => (await statusOf(strict)) !== 503)
      t.equal(await statusOf(strict), 429)
      let passed = 1
      // Not too often: what it counts alone has the same limit, and would look like the shared count.
      for (; (await statusOf(lenient)) === 200; passed += 1) await delay(200)
      t.ok(passed < requestsPerMinute, `${passed} passed before it counted with the others again`)
      t.ok(lenient.runs() && strict.runs())
    }
  )
}
