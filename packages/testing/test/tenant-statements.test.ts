import { type OpenDatabase, openDatabase } from '@concordat/postgres/open'
import { administer, freshRoles } from '@concordat/test-harness/database-roles'
import { countStatements } from '@concordat/test-harness/statement-counts'
import t from 'tap'
import { bearer, buildClinics, prepareClinics, tenantSetting } from './clinic-service.ts'

t.setTimeout(0)

const server = process.env['TEST_DATABASE_URL'] ?? ''
const skip = server === '' && 'set TEST_DATABASE_URL to the address of a PostgreSQL server'
const idOf = (time: number) => `00000000-0000-4000-8000-00000000000${time}`

type Counted = readonly [status: number, trips: number, statements: number]

/** Returns the status of each request, and how many round trips and statements it needs. */
async function counted(database: OpenDatabase, counts: { trips: number; statements: number }, t: Parameters<typeof buildClinics>[0]) {
  const { app } = await buildClinics(t, database)
  const found: Record<string, Counted> = {}
  // Each request more than once, because the process also polls in the background: the least is what the request needs.
  async function send(
    name: string,
    request: (
      id: string,
      key: string
    ) => readonly [method: 'GET' | 'POST' | 'PUT', url: string, payload?: object, more?: Record<string, string>]
  ) {
    for (let time = 1; time <= 4; time += 1) {
      const [method, url, payload, more] = request(idOf(time), `"0191106c-03c0-76ff-b1d${time}"`)
      const headers = { 'x-forwarded-proto': 'https', ...bearer('clinic-1', 'ada'), ...more }
      Object.assign(counts, { trips: 0, statements: 0 })
      const { statusCode } = await app.inject({ method, url, headers, ...(payload && { payload }) })
      const [, trips = counts.trips, statements = counts.statements] = found[name] ?? []
      found[name] = [statusCode, Math.min(trips, counts.trips), Math.min(statements, counts.statements)]
    }
  }
  const visit = { patientId: idOf(1), startsAt: '2044-01-01T00:00:00Z' }
  await send('a PUT that creates', (id) => [
    'PUT',
    `/v1/patients/${id}`,
    { name: `Ada ${id}`, email: `${id}@example.com` },
    { 'if-none-match': '*' }
  ])
  for (const name of ['the first POST with a key', 'its replay'])
    await send(name, (_id, key) => ['POST', '/v1/visits', visit, { 'idempotency-key': key }])
  await send('an item', (id) => ['GET', `/v1/patients/${id}`])
  await send('a list', () => ['GET', '/v1/patients'])
  await send('a list with two relations', () => ['GET', '/v1/patients?include=visits,scans'])
  return found
}

t.test(
  'a request with a tenant needs as many round trips as one without, three statements more for each read, and one more for a transaction',
  { skip },
  async (t) => {
    const results: Record<string, Counted>[] = []
    for (const setting of [undefined, tenantSetting]) {
      const { owner, admin } = await freshRoles(t, server)
      // Without tenants, all rows are those of one, and no policy hides some.
      await administer(admin, `ALTER ROLE ${new URL(owner).username} SET ${tenantSetting} = 'clinic-1'`)
      await (await openDatabase({ url: owner, tenantSetting: setting, prepare: prepareClinics })).close()
      if (setting === undefined) await administer(owner, 'ALTER TABLE patients DISABLE ROW LEVEL SECURITY')
      const { counts, url } = await countStatements(t, owner)
      // The queue and the work in the background go around the counts.
      const [direct, database] = [
        await openDatabase({ url: owner }),
        await openDatabase({ url, tenantSetting: setting, maxConnections: 1 })
      ]
      t.teardown(() => Promise.all([direct.close(), database.close()]))
      results.push(await counted({ ...database, openQueue: (options) => direct.openQueue(options) }, counts, t))
    }
    t.strictSame(results, [
      {
        'a PUT that creates': [201, 4, 6],
        'the first POST with a key': [201, 5, 11],
        'its replay': [201, 1, 1],
        'an item': [200, 1, 1],
        'a list': [200, 1, 1],
        'a list with two relations': [200, 3, 3]
      },
      {
        'a PUT that creates': [201, 4, 7],
        'the first POST with a key': [201, 5, 12],
        'its replay': [201, 1, 1],
        'an item': [200, 1, 4],
        'a list': [200, 1, 4],
        'a list with two relations': [200, 3, 12]
      }
    ])
  }
)
