import { migrate } from '@concordat/postgres'
import { postgresVersionUsageStore, versionUsageMigrations } from '@concordat/postgres/version-usage'
import { until } from '@concordat/test-harness/until'
import t from 'tap'
import { connect, freshSchema, inMemory, onServer } from './database.ts'

const day = '2027-10-04'
const lastUsedAt = Date.UTC(2027, 9, 4, 12)
const use = { version: 'v1', client: 'shop', day, requests: 2, lastUsedAt }

for (const [name, open] of Object.entries({
  PGlite: async () => {
    const { database, schema } = await inMemory()
    return { schema, one: database, two: database }
  },
  PostgreSQL: async (t: Parameters<typeof connect>[0]) => {
    const [one, two] = [connect(t).database, connect(t).database]
    return { schema: freshSchema(t), one, two }
  }
})) {
  t.test(`${name}: the counts of all processes are added up, by client and day`, name === 'PostgreSQL' ? onServer : {}, async (t) => {
    const { schema, one, two } = await open(t)
    await migrate(one, versionUsageMigrations, { schema })
    const [here, there] = [postgresVersionUsageStore(one, { schema }), postgresVersionUsageStore(two, { schema })]
    const others = [
      { ...use, client: null },
      { ...use, client: 'a "quoted" name\0 with what no column takes', lastUsedAt: lastUsedAt - 2 },
      { ...use, version: 'v2', lastUsedAt: lastUsedAt - 1 }
    ]
    await Promise.all([
      ...Array.from({ length: 10 }, () => here.add([use, ...others])),
      ...Array.from({ length: 10 }, () => there.add([...others, { ...use, lastUsedAt: lastUsedAt + 5 }].toReversed()))
    ])
    await there.add([{ ...use, day: '2027-10-05', requests: 1, lastUsedAt: lastUsedAt + 86_400_000 }])
    const [first, ...rest] = await here.list()
    t.strictSame(first, {
      version: 'v1',
      client: 'shop',
      requests: 41,
      lastUsedAt: lastUsedAt + 86_400_000,
      days: [
        { day, requests: 40 },
        { day: '2027-10-05', requests: 1 }
      ]
    })
    t.strictSame(
      rest.map(({ version, client, requests }) => [version, client, requests]),
      [
        ['v1', null, 40],
        ['v2', 'shop', 40],
        ['v1', 'a "quoted" name\0 with what no column takes', 40]
      ]
    )
  })
}

t.test('days that are older than the retention are deleted', onServer, async (t) => {
  const schema = freshSchema(t)
  const { database } = connect(t)
  await migrate(database, versionUsageMigrations, { schema })
  await postgresVersionUsageStore(database, { schema }).add([{ ...use, day: '2027-09-03' }, { ...use, day: '2027-09-04' }, use])
  const store = postgresVersionUsageStore(database, { schema, retentionDays: 30 })
  await store.add([use])
  await until(async () => (await store.list())[0]?.days.length === 2)
  t.strictSame((await store.list())[0]?.days, [
    { day: '2027-09-04', requests: 2 },
    { day, requests: 4 }
  ])
  t.throws(() => postgresVersionUsageStore(database, { retentionDays: 0 }), {
    message: 'postgres: options.retentionDays must be an integer of at least 1, but is 0.'
  })
})
