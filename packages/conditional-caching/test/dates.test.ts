import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import conditionalCaching, { type ConditionalCachingOptions, type ValidatorFunction } from '@concordat/conditional-caching'
import { childEnvironment } from '@concordat/test-harness/child'
import { movedDate } from '@concordat/test-harness/moved-date'
import Fastify from 'fastify'
import t, { type Test } from 'tap'

type Validator = Awaited<ReturnType<ValidatorFunction>>

const noon = Date.UTC(2026, 2, 1, 12)
/** The HTTP date of a time. */
const dateOf = (time: number) => new Date(time).toUTCString()

/**
 * A product that every route shows and that every write changes, with a clock that tests set. `/validated` has a validator; the handler of `/dated`
 * sets the date itself; `/untagged` has a validator with a date only.
 */
async function datedService(t: Test, options: ConditionalCachingOptions = {}) {
  const state = Object.assign(movedDate(t, noon), { changedAt: noon, version: 1, writes: 0, exists: true })
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => void lines.push(JSON.parse(line).msg) } } })
  await app.register(conditionalCaching, options)
  const found = () => ({ exists: state.exists, lastModified: new Date(state.changedAt) })
  const validated = () => ({ ...found(), etag: state.version })
  const show = () => ({ version: state.version })
  const change = async () => {
    state.writes += 1
    return {}
  }
  app.get('/validated', { config: { validator: validated } }, show)
  app.get('/untagged', { config: { validator: async () => found(), cache: 'no-store' } }, show)
  app.get('/dated', async (_request, reply) => reply.header('last-modified', dateOf(state.changedAt)).send(show()))
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    app.route({ method, url: '/validated', config: { validator: validated }, handler: change })
    app.route({ method, url: '/untagged', config: { validator: async () => found() }, handler: change })
  }
  const call = async (url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' | (typeof writes)[number] = 'GET') => {
    const response = await app.inject({ method, url, headers })
    return { status: response.statusCode, date: response.headers['last-modified'], headers: response.headers, body: response.body }
  }
  return { app, state, call, lines }
}

const reads = ['/validated', '/untagged', '/dated']
const writes = ['POST', 'PUT', 'PATCH', 'DELETE'] as const

t.test('Last-Modified is sent once the second of the last change is over, and is the second after it, for GET and HEAD [C1]', async (t) => {
  const { state, call } = await datedService(t)
  for (const changedIn of [0, 1, 499, 999]) {
    state.changedAt = noon + changedIn
    for (const url of reads)
      for (const method of ['GET', 'HEAD'] as const) {
        const seen: unknown[] = []
        for (const now of [noon - 86_400_000, noon + changedIn, noon + 999, noon + 1000, noon + 1001, noon + 86_400_000]) {
          state.now = now
          seen.push((await call(url, {}, method)).date)
        }
        const date = dateOf(noon + 1000)
        t.strictSame(seen, [undefined, undefined, undefined, date, date, date], `${method} ${url} changed at ${changedIn} ms`)
      }
  }
})

t.test('of two changes within one second, no date that a client can have gives 304 for the content of the first [C4]', async (t) => {
  for (const url of reads)
    for (const [first, second] of [
      [0, 1],
      [100, 999],
      [998, 999]
    ] as const) {
      const { state, call } = await datedService(t)
      state.changedAt = noon + first
      state.now = noon + first
      const early = await call(url)
      t.strictSame([early.status, early.date], [200, undefined])
      Object.assign(state, { version: 2, changedAt: noon + second, now: noon + second })
      // The client has no Last-Modified. It may use the time of the change, that of the response, or those before.
      for (const now of [noon + second, noon + 1000, noon + 5000]) {
        state.now = now
        for (const since of [noon - 1000, noon]) {
          const { status, body } = await call(url, { 'if-modified-since': dateOf(since) })
          t.strictSame([status, body], [200, '{"version":2}'], `${url} since ${dateOf(since)}`)
        }
      }
      const { date } = await call(url)
      t.equal((await call(url, { 'if-modified-since': String(date) })).status, 304)
    }
})

t.test('a change while a request reads the state cannot get the date of the state that was read [C4]', async (t) => {
  const { app, state, call } = await datedService(t)
  // The clock reaches the next second after the state was read, and the state has changed again in between.
  const slow = async () => {
    const found = { exists: true, etag: state.version, lastModified: new Date(state.changedAt) }
    state.now = noon + 1000
    return found
  }
  app.get('/slow', { config: { validator: slow } }, async () => ({}))
  app.get('/slow-handler', async (_request, reply) => {
    reply.header('last-modified', dateOf(state.changedAt))
    state.now = noon + 1000
    return {}
  })
  for (const url of ['/slow', '/slow-handler']) {
    state.now = noon + 999
    t.equal((await call(url)).date, undefined, url)
    t.equal((await call(url)).date, dateOf(noon + 1000), url)
    state.now = noon + 999
    t.equal((await call(url, { 'if-modified-since': dateOf(noon + 5000) })).status, 200, url)
  }
})

t.test('a 304 has Last-Modified only if a 200 would have it and there is no ETag [C4]', async (t) => {
  const { state, call } = await datedService(t)
  state.now = noon + 1000
  const since = { 'if-modified-since': dateOf(noon + 1000) }
  for (const method of ['GET', 'HEAD'] as const) {
    t.match(await call('/untagged', since, method), { status: 304, date: dateOf(noon + 1000), headers: { etag: undefined }, body: '' })
    t.match(await call('/validated', since, method), { status: 304, date: undefined, headers: { etag: /^"1~/ }, body: '' })
  }
  state.now = noon + 999
  for (const url of reads) t.equal((await call(url, since)).status, 200, 'a date in the future of the clock')
  const tag = String((await call('/validated')).headers.etag)
  t.match(await call('/validated', { 'if-none-match': tag }), { status: 304, date: undefined })
})

t.test('If-Modified-Since is ignored beside If-None-Match, whichever of them is fulfilled [C4]', async (t) => {
  const { state, call } = await datedService(t)
  state.now = noon + 5000
  for (const url of ['/validated', '/dated']) {
    const tag = String((await call(url)).headers.etag)
    const [current, early] = [dateOf(noon + 1000), dateOf(noon)]
    t.equal((await call(url, { 'if-none-match': '"other"', 'if-modified-since': current })).status, 200)
    t.equal((await call(url, { 'if-none-match': tag, 'if-modified-since': early })).status, 304)
  }
})

t.test(
  'If-Unmodified-Since gets 412 for a change in the current second or in the second that it names, and nothing is changed [O1]',
  async (t) => {
    const { state, call } = await datedService(t)
    for (const changedIn of [0, 300, 999]) {
      state.changedAt = noon + changedIn
      for (const url of ['/validated', '/untagged'])
        for (const method of [...writes, 'GET', 'HEAD'] as const) {
          const statusAt = async (now: number, since: number) => {
            state.now = now
            return (await call(url, { 'if-unmodified-since': dateOf(since) }, method)).status
          }
          state.writes = 0
          const name = `${method} ${url} changed at ${changedIn} ms`
          t.equal(await statusAt(noon + changedIn, noon), 412, `${name}, now`)
          t.equal(await statusAt(noon + 999, noon + 60_000), 412, `${name}, with a date in the future`)
          t.equal(await statusAt(noon + 60_000, noon - 1000), 412, `${name}, since an earlier second`)
          t.equal(await statusAt(noon + 60_000, noon), 412, `${name}, since its own second`)
          t.equal(state.writes, 0)
          t.equal(await statusAt(noon + 1000, noon + 1000), 200, `${name}, with its Last-Modified`)
          t.equal(await statusAt(noon + 60_000, noon + 30_000), 200, `${name}, since a later second`)
          t.equal(state.writes, method === 'GET' || method === 'HEAD' ? 0 : 2)
        }
    }
  }
)

t.test('of two writers that read the same state, the second gets 412 for its date, even within one second [O1]', async (t) => {
  for (const readIn of [1, 500, 1000, 5000]) {
    const { state, call } = await datedService(t)
    state.now = noon + readIn
    // Without Last-Modified, a client may use the time of the change that it sees in the response.
    const { date = dateOf(state.changedAt) } = await call('/validated')
    state.changedAt = state.now
    for (const now of [state.changedAt, noon + 999, noon + 6000, noon + 60_000]) {
      state.now = Math.max(now, state.changedAt)
      t.equal((await call('/validated', { 'if-unmodified-since': date }, 'PATCH')).status, 412, `read after ${readIn} ms`)
    }
    t.equal(state.writes, 0)
  }
})

t.test('after a release, no date from before gives 304, and Last-Modified is never earlier than the release [C4]', async (t) => {
  for (const [release, first] of [
    ['2026-03-01T14:00:00Z', noon + 7_200_000],
    ['2026-03-01T16:00:00.001+02:00', noon + 7_201_000],
    [new Date(noon + 7_200_000), noon + 7_200_000]
  ] as const) {
    const { state, call } = await datedService(t, { representationChangedAt: release })
    for (const url of reads) {
      for (const now of [noon + 60_000, first - 1]) {
        state.now = now
        t.equal((await call(url)).date, undefined, 'until then, the release before may still run')
        t.equal((await call(url, { 'if-modified-since': dateOf(now) })).status, 200)
      }
      state.now = first
      t.equal((await call(url)).date, dateOf(first))
      for (const since of [noon + 1000, noon + 60_000, first - 1000])
        t.equal((await call(url, { 'if-modified-since': dateOf(since) })).status, 200, `${url} since ${dateOf(since)}`)
      t.equal((await call(url, { 'if-modified-since': dateOf(first) })).status, 304)
    }
    state.changedAt = first + 500
    state.now = first + 1000
    for (const url of reads) t.equal((await call(url)).date, dateOf(first + 1000), 'a later change')
  }
})

t.test('If-Unmodified-Since compares the date of the state: a release does not change the state [O1]', async (t) => {
  const { state, call } = await datedService(t, { representationChangedAt: '2026-03-01T14:00:00Z' })
  for (const now of [noon + 60_000, noon + 86_400_000]) {
    state.now = now
    for (const method of writes)
      for (const url of ['/validated', '/untagged']) {
        t.equal((await call(url, { 'if-unmodified-since': dateOf(noon + 1000) }, method)).status, 200, 'the date from before the release')
        t.equal((await call(url, { 'if-unmodified-since': dateOf(noon) }, method)).status, 412)
      }
  }
  t.equal(
    (await call('/validated', { 'if-unmodified-since': dateOf(noon + 7_200_000) }, 'PATCH')).status,
    200,
    'the date after the release'
  )
})

t.test('the first date that is sent without representationChangedAt is logged once, with what to do', async (t) => {
  const { state, call, lines } = await datedService(t)
  await call('/validated')
  t.strictSame(lines, [], 'no date is sent yet')
  state.now = noon + 5000
  for (const url of [...reads, ...reads]) await call(url)
  t.match(lines, [/^conditional-caching: options\.representationChangedAt is not set, but \/validated sends Last-Modified: .* Set it to /])
  t.equal(lines.length, 1)
  const set = await datedService(t, { representationChangedAt: new Date(0) })
  set.state.now = noon + 5000
  for (const url of reads) t.equal((await set.call(url)).date, dateOf(noon + 1000))
  t.strictSame(set.lines, [])
})

t.test('a Last-Modified that is not a date is not sent, and a date in an obsolete form is sent in the preferred form [C1]', async (t) => {
  const { app, state, call } = await datedService(t)
  state.now = noon + 5000
  let date = ''
  app.get('/set', async (_request, reply) => reply.header('last-modified', date).send({}))
  for (date of ['yesterday', '2026-03-01T12:00:00Z', '1772366400', '']) t.equal((await call('/set')).date, undefined, date)
  for (date of ['Sunday, 01-Mar-26 12:00:00 GMT', 'Sun Mar  1 12:00:00 2026']) t.equal((await call('/set')).date, dateOf(noon + 1000), date)
})

t.test(
  'streams, partial content and responses with no-store have the same date, and a redirection that of its handler alone [C1]',
  async (t) => {
    const { app, state, call } = await datedService(t)
    const validator = (): Validator => ({ exists: true, lastModified: new Date(state.changedAt) })
    app.get('/stream', { config: { validator } }, (_request, reply) => reply.send(new Blob(['x']).stream()))
    app.get('/part', async (_request, reply) => reply.code(206).header('last-modified', dateOf(noon)).send('x'))
    app.get('/moved', { config: { validator } }, (_request, reply) => reply.redirect('/validated'))
    state.now = noon + 999
    for (const url of ['/stream', '/part', '/moved']) t.equal((await call(url)).date, undefined, url)
    state.now = noon + 1000
    for (const url of ['/stream', '/part']) t.equal((await call(url)).date, dateOf(noon + 1000), url)
    t.equal((await call('/moved')).date, undefined)
  }
)

// A process of a release: the service listens, and its clock and its state are those of its arguments.
async function startRelease(t: Test, representationChangedAt: string) {
  const program = fileURLToPath(new URL('dated-process.ts', import.meta.url))
  const child = spawn(
    process.execPath,
    ['--conditions=@concordat/source', program, representationChangedAt, String(noon), String(noon + 60_000)],
    {
      env: childEnvironment(),
      stdio: ['ignore', 'pipe', 'inherit']
    }
  )
  t.teardown(() => child.kill())
  const [address] = await once(child.stdout, 'data')
  return async (headers: Record<string, string> = {}) => {
    const response = await fetch(String(address), { headers })
    return { status: response.status, date: response.headers.get('last-modified') }
  }
}

t.test(
  'two processes of a release send the same date and accept it from each other, but not that of the release before [C4] [C6]',
  async (t) => {
    const [one, other, before] = await Promise.all([
      startRelease(t, '2026-03-01T12:00:30Z'),
      startRelease(t, '2026-03-01T14:00:30+02:00'),
      startRelease(t, '2026-02-01T00:00:00Z')
    ])
    const { date } = await one()
    t.equal(date, dateOf(noon + 30_000))
    t.strictSame(await other(), { status: 200, date })
    const { date: old } = await before()
    t.equal(old, dateOf(noon + 1000))
    for (const process of [one, other]) {
      t.equal((await process({ 'if-modified-since': String(date) })).status, 304)
      t.equal((await process({ 'if-modified-since': String(old) })).status, 200)
    }
  }
)
