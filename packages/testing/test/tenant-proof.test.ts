// No response to a tenant depends on whether another tenant exists. Each request is sent to two services with the same history of one tenant: in one of
// them, another tenant does the same with the same names, keys and ids. The responses must be equal.
import { type OpenDatabase, openDatabase } from '@concordat/postgres/open'
import { checkTenants } from '@concordat/postgres/tenants'
import { freshRoles } from '@concordat/test-harness/database-roles'
import { onPgBouncer, startPgBouncer } from '@concordat/test-harness/pgbouncer'
import { randomFrom } from '@concordat/test-harness/random'
import { isLong, scaled } from '@concordat/test-harness/scale'
import t, { type Test } from 'tap'
import { beginning, type Parameters, requestsOf } from './clinic-requests.ts'
import { buildClinics, marker, prepareClinics, tenantSetting, tenants } from './clinic-service.ts'
import { ClinicWorld } from './clinic-world.ts'

t.setTimeout(0)

const server = process.env['TEST_DATABASE_URL'] ?? ''
const seed = Number(process.env['SEED'] ?? 56)
const rounds = scaled(1, 12)
const ignored = 'options, client_connection_check_interval, idle_in_transaction_session_timeout, statement_timeout, lock_timeout'
// The pages of the reference read nothing of the database.
const withoutRows = /^GET \/reference/

type Open = (t: Test) => Promise<OpenDatabase>
const onPGlite: Open = () => openDatabase({ folder: 'memory://', tenantSetting, prepare: prepareClinics })
const onServer: Open = async (t) => openDatabase({ url: (await freshRoles(t, server)).owner, tenantSetting, prepare: prepareClinics })
const behindPgBouncer: Open = async (t) => {
  const { owner } = await freshRoles(t, server)
  await (await openDatabase({ url: owner, tenantSetting, prepare: prepareClinics })).close()
  const bouncer = await startPgBouncer(owner, ignored)
  t.teardown(() => bouncer.stop())
  return openDatabase({ url: bouncer.url, tenantSetting })
}
const noServer = server === '' ? { skip: 'set TEST_DATABASE_URL to the address of a PostgreSQL server' } : {}
const places: readonly (readonly [string, Open, { readonly skip?: string }])[] = [
  ...(isLong || server === '' ? [['PGlite', onPGlite, {}] as const] : []),
  ['PostgreSQL', onServer, noServer],
  ...(isLong ? [['PgBouncer', behindPgBouncer, onPgBouncer] as const] : [])
]

async function begin(t: Test, open: Open) {
  const database = await open(t)
  t.teardown(() => database.close())
  return new ClinicWorld(await buildClinics(t, database), database)
}

async function parametersOf({ service: { app, routes } }: ClinicWorld): Promise<Parameters> {
  const { paths } = (await app.inject({ url: '/v1/openapi', headers: { 'x-forwarded-proto': 'https' } })).json()
  const operation = (route: string) => {
    const [method = '', url = ''] = route.split(' ')
    return paths[url.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
  }
  return Object.fromEntries(routes.map((route) => [route, operation(route)?.parameters ?? []]))
}

for (const [place, open, options] of places)
  t.test(`no response shows a tenant that another one exists, on ${place} (seed ${seed})`, options, async (t) => {
    const shared = await begin(t, open)
    const alone = await begin(t, open)
    await checkTenants(shared.database.postgres, { shared: ['plans'] })
    const random = randomFrom(seed)
    const parameters = await parametersOf(shared)
    const other = requestsOf('other', random, parameters, shared)
    const one = requestsOf('one', random, parameters, shared, alone)
    const operations = Object.keys(one.cases)
    t.strictSame(
      shared.service.routes.filter((route) => !withoutRows.test(route)).toSorted(),
      operations.toSorted(),
      'each route has a case'
    )

    /** Sends a random request of the other tenant. */
    async function elsewhere(operation: string) {
      const step = other.cases[operation]?.()
      if (step !== undefined) await shared.send('other', operation, step(shared), other.one(0.25))
    }

    const ids = new Map<string, string>()
    const codes = new Set<string>()
    async function compare(operation: string) {
      const step = one.cases[operation]?.()
      if (step === undefined) return
      const isApplication = one.one(0.25)
      const before = await shared.stateOf('other')
      const inShared = await shared.send('one', operation, step(shared), isApplication)
      const inAlone = await alone.send('one', operation, step(alone), isApplication)
      ids.set(inShared.requestId, operation)
      codes.add(`${operation} ${inShared.text.charAt('{"status":'.length)}`)
      const sent = JSON.stringify(step(shared))
      if (inShared.shown !== inAlone.shown) {
        t.equal(inShared.shown, inAlone.shown, sent)
        throw new Error(`${operation} differs where another tenant exists: ${sent}`)
      }
      if (inShared.text.includes(marker)) throw new Error(`${operation} shows the other tenant: ${sent} ${inShared.text}`)
      if ((await shared.stateOf('other')) !== before) throw new Error(`${operation} changes what the other tenant has: ${sent}`)
    }

    for (const operation of [...beginning, ...operations]) await elsewhere(operation)
    const all = [...beginning, ...Array.from({ length: rounds }, () => shuffled(operations, random)).flat()]
    for (const operation of all) {
      if (other.one(0.4)) await elsewhere(other.pick(operations))
      await compare(operation)
    }
    t.equal(ids.size, all.length, 'all requests were compared')
    const succeeded = operations.filter((operation) => codes.has(`${operation} 2`))
    t.ok(succeeded.length >= scaled(15, 30), succeeded.join(', '))
    checkLog(t, shared, ids)
    await checkEvents(t, shared)
  })

function shuffled<Value>(values: readonly Value[], random: () => number): Value[] {
  return values
    .map((value) => ({ value, at: random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ value }) => value)
}

/** Checks that log lines and audit records have the tenant of their request. */
function checkLog(t: Test, { service: { lines } }: ClinicWorld, ids: ReadonlyMap<string, string>) {
  const ofOne = lines.filter(({ reqId, batch }) => ids.has(String(batch ?? reqId)))
  const hasNone = new Set(['GET /', 'GET /v1', 'GET /v1/openapi', 'GET /v1/plans'])
  const wrong = ofOne.filter((line) => {
    const expected = hasNone.has(ids.get(String(line['batch'] ?? line['reqId'])) ?? '') ? undefined : tenants.one
    // An operation that its batch refuses has not reached authentication.
    const isRefused = 'batch' in line && line['tenant'] === undefined && Number(line['statusCode']) >= 400
    return (line['tenant'] !== expected && !isRefused) || JSON.stringify(line).includes(marker)
  })
  t.strictSame(wrong, [], 'the log lines of a tenant have its name, and nothing of another one')
  t.ok(ofOne.length >= ids.size)
  t.strictSame(
    lines.filter(({ level }) => Number(level) >= 50),
    [],
    'nothing failed'
  )
}

/** Checks that each event is for subscriptions of its tenant. */
async function checkEvents(t: Test, { database }: ClinicWorld) {
  const deliveries = await database.query<{ tenant: string; body: string }>(
    `SELECT s.tenant, m.bodies[1] AS body FROM concordat.webhook_deliveries d
    JOIN concordat.webhook_subscriptions s ON s.id = d.subscription_id JOIN concordat.webhook_messages m ON m.id = d.message_id`
  )
  const records = await database.query<{ tenant: string }>(
    'SELECT DISTINCT tenant FROM concordat.audit_records WHERE coalesce(subject, client) IS NOT NULL ORDER BY tenant'
  )
  t.strictSame(
    deliveries.filter(({ tenant, body }) => body.includes(marker) && tenant !== tenants.other),
    []
  )
  t.ok(deliveries.some(({ tenant }) => tenant === tenants.one) && deliveries.some(({ tenant }) => tenant === tenants.other))
  t.strictSame(
    records.map(({ tenant }) => tenant),
    Object.values(tenants)
  )
}
