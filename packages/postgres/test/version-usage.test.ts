import { migrate } from '@concordat/postgres'
import { postgresVersionUsageStore, versionUsageMigrations } from '@concordat/postgres/version-usage'
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

  t.test(
    `${name}: a sweep deletes days beyond the retention, in batches, in one process at a time`,
    name === 'PostgreSQL' ? onServer : {},
    async (t) => {
      const { schema, one, two } = await open(t)
      await migrate(one, versionUsageMigrations, { schema })
      const old = Array.from({ length: 5 }, (_, index) => ({ ...use, client: `client ${index}`, day: '2027-09-03' }))
      const options = { schema, retentionDays: 30 }
      const [here, there] = [postgresVersionUsageStore(one, options), postgresVersionUsageStore(two, options)]
      await here.add([...old, { ...use, day: '2027-09-04' }, use], lastUsedAt)
      const counts = await Promise.all([here.sweep?.(lastUsedAt, 3), there.sweep?.(lastUsedAt, 3)])
      t.ok(counts.every((count) => count === 3 || count === 2 || count === 0) && counts.includes(3), counts.join())
      while ((await here.sweep?.(lastUsedAt, 3)) !== 0);
      t.strictSame(
        (await here.list()).map(({ client, days }) => [client, days.map(({ day }) => day)]),
        [['shop', ['2027-09-04', day]]]
      )
      t.equal(await here.sweep?.(lastUsedAt + 86_400_000, 3), 1)
    }
  )

  t.test(
    `${name}: the days on which processes reported are known, with and without requests`,
    name === 'PostgreSQL' ? onServer : {},
    async (t) => {
      const { schema, one, two } = await open(t)
      await migrate(one, versionUsageMigrations, { schema })
      const [here, there] = [postgresVersionUsageStore(one, { schema }), postgresVersionUsageStore(two, { schema })]
      t.strictSame(await here.countedDays(), [])
      await Promise.all([here.add([], lastUsedAt + 3), there.add([], lastUsedAt), here.add([], lastUsedAt + 1)])
      const next = lastUsedAt + 86_400_000
      // The report of a process whose store was down over midnight.
      await there.add([{ ...use, lastUsedAt: lastUsedAt + 4 }], next)
      const days = [
        { day, firstReportAt: lastUsedAt, lastReportAt: lastUsedAt + 4 },
        { day: '2027-10-05', firstReportAt: next, lastReportAt: next }
      ]
      t.strictSame(await here.countedDays(), days)
      t.strictSame(
        (await here.list()).map(({ client }) => client),
        ['shop'],
        'a report without requests is not a client'
      )
      await here.sweep?.(lastUsedAt + 91 * 86_400_000, 10)
      t.strictSame(await here.countedDays(), days, 'one day more than the retention')
      await here.sweep?.(lastUsedAt + 92 * 86_400_000, 10)
      t.strictSame(await here.countedDays(), days.slice(1))
    }
  )
}

t.test('an invalid retention is refused', async (t) => {
  const { database } = await inMemory()
  t.throws(() => postgresVersionUsageStore(database, { retentionDays: 0 }), {
    message: 'postgres: options.retentionDays must be an integer from 1 to 36500, but is 0.'
  })
})
