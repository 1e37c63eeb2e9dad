// Measures pages of a tenant in a table of 1,000,000 rows, with policies and without, on the server of TEST_DATABASE_URL, whose role must be an administrator:
// node --conditions=@concordat/source packages/postgres/bench/tenants.ts
import { type OpenDatabase, openDatabase } from '@concordat/postgres/open'
import { administer, freshRoles } from '@concordat/test-harness/database-roles'

const warmUp = 100
const rounds = 2000
const minRounds = 20
const maxMs = 20_000
const tenantSetting = 'app.tenant'
const now = "(SELECT NULLIF(current_setting('app.tenant', true), ''))"
const tenants = 100

// The same rows twice: `plain` has no policies.
const columns = `tenant text NOT NULL, id bigint NOT NULL, at timestamptz NOT NULL, total numeric NOT NULL, name text NOT NULL COLLATE "C", state state NOT NULL,
  cents bigint GENERATED ALWAYS AS (total * 100) STORED, PRIMARY KEY (tenant, id)`
const indexes = ['at, id', 'total, id', 'cents, id', 'name', 'state, at, id']
const rows = `SELECT 't' || n % ${tenants}, n, timestamptz '2026-01-01' + n * interval '1 s', (n * 7919 % 1000000) / 100.0, 'name ' || n * 7919 % 1000000,
  (CASE n % 50 WHEN 0 THEN 'open' ELSE 'closed' END)::state FROM generate_series(1::bigint, 1000000) n`
const tables = ['plain', 'secured'].flatMap((table) => [
  `CREATE TABLE ${table} (${columns})`,
  `INSERT INTO ${table} (tenant, id, at, total, name, state) ${rows}`,
  ...indexes.map((index) => `CREATE INDEX ON ${table} (tenant, ${index})`)
])
const secured = [
  `CREATE POLICY tenant ON secured USING (tenant = ${now})`,
  'ALTER TABLE secured ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
  `CREATE VIEW shown AS SELECT * FROM plain WHERE tenant = ${now} WITH CHECK OPTION`
]

const after = (column: string) => `(${column}, id) > ($1, $2) ORDER BY ${column}, id LIMIT 51`
/** The conditions of each page, and their values. */
const pages: Readonly<Record<string, readonly [condition: string, values: readonly unknown[]]>> = {
  'cursor by timestamptz': [after('at'), ['2026-01-05T00:00:00Z', 5]],
  'cursor by numeric': [after('total'), ['5000', 5]],
  'cursor by the generated bigint': [after('cents'), ['500000', 5]],
  'equality of an enum': ['state = $1 ORDER BY at, id LIMIT 51', ['open']],
  'prefix by LIKE': ['name LIKE $1 LIMIT 51', ['name 7919%']],
  'prefix by ^@': ['name ^@ $1 LIMIT 51', ['name 7919']]
}

type Run = (values: readonly unknown[]) => Promise<unknown>

// One after another in each round, so that all meet the same load.
async function lowerQuartiles(runs: Readonly<Record<string, Run>>, values: readonly unknown[]) {
  const times = new Map(Object.keys(runs).map((name) => [name, [] as number[]]))
  const end = performance.now() + maxMs
  for (let round = -warmUp; round < rounds && (round < minRounds || performance.now() < end); round += 1) {
    for (const [name, run] of Object.entries(runs)) {
      const since = performance.now()
      await run(values)
      if (round >= 0) times.get(name)?.push(performance.now() - since)
    }
  }
  return Object.fromEntries(
    [...times].map(([name, all]) => [name, (all.toSorted((a, b) => a - b)[Math.floor(all.length / 4)] ?? 0).toFixed(2)])
  )
}

function runsOf(database: OpenDatabase, condition: string): Readonly<Record<string, Run>> {
  const plain = `SELECT * FROM plain WHERE tenant = 't7' AND ${condition}`
  const reads = database.postgres.reads('t7')
  return {
    'without policies': (values) => database.query(plain, values),
    'with policies': (values) => reads.query(`SELECT * FROM secured WHERE ${condition}`, values),
    'by a view of the owner': (values) => reads.query(`SELECT * FROM shown WHERE ${condition}`, values),
    'three messages': (values) =>
      database.asTenant('t7', (statements) => statements.query(`SELECT * FROM secured WHERE ${condition}`, values))
  }
}

const url = process.env['TEST_DATABASE_URL']
if (url === undefined) throw new Error('Set TEST_DATABASE_URL to the address of a PostgreSQL server.')
const ends: (() => unknown)[] = []
const { owner, service, app } = await freshRoles({ teardown: (end) => void ends.unshift(end) }, url)
try {
  await administer(owner, "CREATE TYPE state AS ENUM ('open', 'closed')", ...tables, ...secured)
  await administer(owner, `GRANT SELECT ON plain, secured, shown TO ${app}`, 'ANALYZE')
  const database = await openDatabase({ url: service, tenantSetting })
  for (const [name, [condition, values]] of Object.entries(pages))
    console.log(name, await lowerQuartiles(runsOf(database, condition), values))
  await database.close()
} finally {
  for (const end of ends) await end()
}
