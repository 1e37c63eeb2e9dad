import { mock } from 'node:test'
import { publish } from '@concordat/plugin-kit/wiring'
import versioning, { type VersioningOptions, type VersionUse } from '@concordat/versioning'
import Fastify, { type FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'

const reportMs = 10_000

const noon = Date.UTC(2027, 9, 4, 12)

/** Sets the date to noon. It moves with the intervals, and as the test moves it. */
function mockTime(t: Test) {
  mock.timers.enable({ apis: ['setInterval', 'Date'], now: noon })
  t.teardown(() => mock.timers.reset())
}

const identityOf = ({ headers }: FastifyRequest) => ({ client: headers['x-client'] as string | undefined })

/** A store that can fail, and a service whose clients say in a header who they are. */
async function counted(t: Test) {
  mockTime(t)
  const reports: VersionUse[][] = []
  const store = {
    failures: 0,
    async add(uses: readonly VersionUse[]) {
      if (store.failures-- > 0) throw new Error('The table is gone.')
      reports.push([...uses])
    },
    list: async () => reports.flat().map(({ day, ...use }) => ({ ...use, days: [{ day, requests: use.requests }] }))
  }
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'error', stream: { write: (line: string) => void lines.push(JSON.parse(line).msg) } } })
  t.teardown(() => app.close())
  publish(app, { clients: { identityOf } as never })
  await app.register(versioning, { versions: { 1: {}, 2: {} }, store } as VersioningOptions)
  for (const version of [1, 2])
    await app.apiVersion(version, async (child) => {
      child.get('/orders', async () => [])
      child.get('/health', { config: { operational: true } }, async () => ({}))
    })
  app.get('/outside', { config: { operational: true } }, async () => ({}))
  const request = (url: string, client?: string) => app.inject({ url, headers: client === undefined ? {} : { 'x-client': client } })
  return { app, store, reports, lines, request }
}

t.test('the requests of each client to each version are reported every ten seconds, and at the end', async (t) => {
  const { app, reports, request } = await counted(t)
  for (const client of ['shop', 'shop', 'desk', undefined]) await request('/v1/orders', client)
  mock.timers.setTime(noon + 1000)
  await request('/v2/orders', 'shop')
  await request('/v1/orders', 'shop')
  // None of these is a request to the API in a version.
  for (const url of ['/v1/health', '/v1', '/v1/unknown', '/v9/orders', '/outside', '/']) await request(url, 'shop')
  t.strictSame(reports, [])
  mock.timers.tick(reportMs)
  await new Promise(setImmediate)
  const use = { day: '2027-10-04', requests: 1, lastUsedAt: noon }
  t.strictSame(reports, [
    [
      { ...use, version: 'v1', client: 'shop', requests: 3, lastUsedAt: noon + 1000 },
      { ...use, version: 'v1', client: 'desk' },
      { ...use, version: 'v1', client: null },
      { ...use, version: 'v2', client: 'shop', lastUsedAt: noon + 1000 }
    ]
  ])
  mock.timers.tick(reportMs)
  await new Promise(setImmediate)
  t.equal(reports.length, 1, 'nothing is reported when nobody made a request')

  await request('/v1/orders', 'shop')
  mock.timers.setTime(noon + 12 * 3_600_000)
  await request('/v1/orders', 'shop')
  t.equal((await app.versionClients()).length, 4)
  await app.close()
  t.match(reports[1], [
    { day: '2027-10-04', requests: 1 },
    { day: '2027-10-05', requests: 1 }
  ])
})

t.test('a process that counts nothing reports each hour, and deletes what is beyond the retention each minute', async (t) => {
  mockTime(t)
  const calls: unknown[] = []
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => void lines.push(JSON.parse(line).msg) } } })
  const store = {
    add: async (uses: readonly VersionUse[], at?: number) => void calls.push(['add', uses.length, at]),
    async sweep(...input: unknown[]) {
      calls.push(['sweep', ...input])
      if (calls.length === 3) throw new Error('The table is gone.')
      return calls.length === 5 ? 1000 : 12
    },
    list: async () => []
  }
  await app.register(versioning, { versions: { 1: {} }, store } as VersioningOptions)
  mock.timers.tick(reportMs)
  await new Promise(setImmediate)
  t.strictSame(calls, [], 'not before the service is ready')
  await app.ready()
  const started = Date.now()
  for (let passed = 0; passed < 3_660_000; passed += reportMs) {
    mock.timers.tick(reportMs)
    await new Promise(setImmediate)
  }
  const began = started + reportMs
  t.strictSame(
    calls.filter((call) => (call as string[])[0] === 'add'),
    [
      ['add', 0, began],
      ['add', 0, began + 3_600_000]
    ]
  )
  t.strictSame(
    calls.filter((call) => (call as string[])[0] === 'sweep'),
    [1, 2, 3, 4, 4, ...Array.from({ length: 57 }, (_, minute) => minute + 5)].map((minute) => ['sweep', started + minute * 60_000, 1000])
  )
  t.strictSame(lines, ['versioning: old use of versions was not deleted'])
  await app.close()
  t.equal(calls.length, 64, 'nothing is left to report at the end')
})

t.test('what a store could not take is reported again, with what came after, and logged once', async (t) => {
  const { store, reports, lines, request } = await counted(t)
  store.failures = 2
  for (const attempt of [1, 2, 3]) {
    await request('/v1/orders', 'shop')
    mock.timers.tick(reportMs)
    await new Promise(setImmediate)
    t.equal(reports.length, attempt === 3 ? 1 : 0)
  }
  t.match(reports, [[{ client: 'shop', requests: 3 }]])
  t.strictSame(lines, ['versioning: the use of versions cannot be stored'])
})

t.test('beyond a thousand names a day, further clients count as unknown', async (t) => {
  const { app, reports, request } = await counted(t)
  for (let index = 0; index < 1005; index += 1) await request('/v1/orders', `client-${index}`)
  await request('/v1/orders', 'client-1')
  mock.timers.setTime(noon + 86_400_000)
  await request('/v1/orders', 'client-1004')
  await app.close()
  const [report = []] = reports
  t.equal(report.length, 1000 + 1 + 1)
  t.strictSame(
    report
      .filter(({ client }) => [null, 'client-1', 'client-1004'].includes(client))
      .map(({ client, requests, day }) => [client, requests, day]),
    [
      ['client-1', 2, '2027-10-04'],
      [null, 5, '2027-10-04'],
      ['client-1004', 1, '2027-10-05']
    ]
  )
})

t.test('clients with names of more than 256 characters count as unknown', async (t) => {
  const { app, reports, request } = await counted(t)
  for (const length of [256, 257, 300]) await request('/v1/orders', 'c'.repeat(length))
  await app.close()
  t.strictSame(
    reports.flat().map(({ client, requests }) => [client, requests]),
    [
      ['c'.repeat(256), 1],
      [null, 2]
    ]
  )
})

t.test('without a store, nothing is counted, and to ask is an error that says so', async (t) => {
  const app = Fastify()
  await app.register(versioning)
  await t.rejects(app.versionClients(), { message: /^versioning: app\.versionClients\(\) needs options\.store/ })
  await t.rejects(async () => await Fastify().register(versioning, { store: {} } as never), {
    message: 'versioning: options.store must implement VersionUsageStore, for example postgresVersionUsageStore(database).'
  })
})
