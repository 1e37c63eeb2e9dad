import { randomUUID } from 'node:crypto'
import { fromPGlite, fromPool, type Postgres } from '@concordat/postgres'
import { checkTenants, type TenantFinding, TenantIsolationError } from '@concordat/postgres/tenants'
import { freshRoles } from '@concordat/test-harness/database-roles'
import { startPGlite } from '@concordat/test-harness/pglite'
import { Client, Pool } from 'pg'
import t, { type Test } from 'tap'
import { connect, server } from './database.ts'

const tenantSetting = 'app.tenant'
const now = "(SELECT NULLIF(current_setting('app.tenant', true), ''))"
const secure = (table: string) => `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`
const limit = (table: string, name = 'tenant') => `CREATE POLICY ${name} ON ${table} USING (tenant = ${now})`

/** A database that keeps tenants apart. */
const sound = [
  'CREATE TABLE plans (id text PRIMARY KEY)',
  'CREATE TABLE patients (tenant text NOT NULL, id bigint, plan text REFERENCES plans, PRIMARY KEY (tenant, id))',
  `CREATE TABLE visits (tenant text NOT NULL, id bigint, patient bigint, at timestamptz, total numeric, PRIMARY KEY (tenant, id),
    CONSTRAINT visits_patient FOREIGN KEY (tenant, patient) REFERENCES patients)`,
  'CREATE INDEX visits_at ON visits (tenant, at, id)',
  'CREATE VIEW open_plans AS SELECT * FROM plans',
  ...['patients', 'visits'].flatMap((table) => [limit(table), secure(table)])
]

type Role = 'app' | 'owner' | 'superuser'

interface Trap {
  readonly sql: readonly string[]
  /** What the check finds: the name, and a part of the line. */
  readonly finding: readonly [name: string, line: RegExp]
  /** The names of what else is found. */
  readonly also?: readonly string[]
  /** The role of the service. */
  readonly as?: Role
  /** Whether the rights on the tables are given before the trap is built, so that it can take some of them away. */
  readonly grantsFirst?: boolean
}

const replacePolicy = (...policies: string[]) => ['DROP POLICY tenant ON visits', ...policies]
const noForce = ['ALTER TABLE visits NO FORCE ROW LEVEL SECURITY']
const hidden = [
  'ALTER TABLE visits RENAME TO all_visits',
  'REVOKE ALL ON all_visits FROM APP',
  ...['all_visits'].map((table) => `ALTER TABLE ${table} NO FORCE ROW LEVEL SECURITY`)
]
const view = (condition: string, rest = '') => `CREATE VIEW visits AS SELECT * FROM all_visits WHERE ${condition} ${rest}`
const grantView = 'GRANT SELECT, INSERT, UPDATE, DELETE ON visits TO APP'

const definer = (name: string) => `CREATE FUNCTION ${name}() RETURNS bigint SECURITY DEFINER LANGUAGE sql AS $$ SELECT 1::bigint $$`

/** Each trap in a sound database. APP is the role of the service. */
const traps: Readonly<Record<string, Trap>> = {
  'a table without row security': {
    sql: ['ALTER TABLE visits DISABLE ROW LEVEL SECURITY'],
    finding: ['visits', /has no row level security/]
  },
  'an owner without FORCE': { sql: noForce, as: 'owner', finding: ['visits', /owns the table visits/] },
  'a member of the owner without FORCE': { sql: [...noForce, 'GRANT OWNER TO APP'], finding: ['visits', /is a member of its owner/] },
  'a superuser': { sql: [], as: 'superuser', finding: ['ROLE', /is a superuser, and policies do not bind it/] },
  'a role with BYPASSRLS': { sql: ['ALTER ROLE APP BYPASSRLS'], finding: ['APP', /has BYPASSRLS/] },
  'a table without the tenant': { sql: ['CREATE TABLE notes (id bigint)'], finding: ['notes', /has no column tenant/] },
  'a shared table with a tenant': { sql: ['ALTER TABLE plans ADD tenant text'], finding: ['plans', /is in shared, but has the column/] },
  'a shared table that does not exist': {
    sql: ['ALTER TABLE plans RENAME TO programs'],
    finding: ['plans', /which is not a table/],
    also: ['programs']
  },
  'a tenant that can be null': {
    sql: ['ALTER TABLE visits DROP CONSTRAINT visits_pkey, ALTER tenant DROP NOT NULL'],
    finding: ['visits', /can be null, and foreign keys with a null are not checked/]
  },
  'no policy': { sql: replacePolicy(), finding: ['visits', /permits any row/] },
  'no policy on a table whose tenant is a uuid': {
    sql: ['CREATE TABLE rooms (tenant uuid PRIMARY KEY)', secure('rooms')],
    finding: ['rooms', /NULLIF\(current_setting\('app.tenant', true\), ''\)::uuid\)\)\.$/]
  },
  'a policy for another role': {
    sql: ['DROP POLICY tenant ON visits', `CREATE POLICY others ON visits TO OWNER USING (tenant = ${now})`],
    finding: ['visits', /permits any row/]
  },
  'two permissive policies': { sql: [limit('visits', 'second')], finding: ['visits', /has 2 permissive policies \(second, tenant\)/] },
  'a policy for everything': {
    sql: replacePolicy('CREATE POLICY tenant ON visits USING (true)'),
    finding: ['tenant', /does not limit rows/]
  },
  'a policy with OR': {
    sql: replacePolicy(`CREATE POLICY tenant ON visits USING (tenant = ${now} OR current_setting('app.admin', true) = 'yes')`),
    finding: ['tenant', /does not limit rows/]
  },
  'a policy of another setting': {
    sql: replacePolicy(`CREATE POLICY tenant ON visits USING (tenant = NULLIF(current_setting('app.user', true), ''))`),
    finding: ['tenant', /does not limit rows/]
  },
  'a setting that is empty after COMMIT': {
    sql: replacePolicy(`CREATE POLICY tenant ON visits USING (tenant = (SELECT current_setting('app.tenant', true)))`),
    finding: ['tenant', /does not limit rows/]
  },
  'a policy that compares the tenant with itself': {
    sql: replacePolicy(`CREATE POLICY tenant ON visits USING (tenant = coalesce(${now}, tenant))`),
    finding: ['tenant', /does not limit rows/]
  },
  'a policy that new rows need not meet': {
    sql: replacePolicy(`CREATE POLICY tenant ON visits USING (tenant = ${now}) WITH CHECK (true)`),
    finding: ['tenant', /permits new rows of other tenants/]
  },
  'a policy for SELECT only': {
    sql: replacePolicy(`CREATE POLICY tenant ON visits FOR SELECT USING (tenant = ${now})`),
    finding: ['tenant', /is not for all commands/]
  },
  'an IMMUTABLE function in a policy': {
    sql: [
      `CREATE FUNCTION tenant_now() RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT NULLIF(current_setting('app.tenant', true), '') $$`,
      ...replacePolicy('CREATE POLICY tenant ON visits USING (tenant = tenant_now())')
    ],
    finding: ['tenant', /calls tenant_now\(\), which is IMMUTABLE/]
  },
  'a view of the owner': {
    sql: [...noForce, 'CREATE VIEW few AS SELECT * FROM visits'],
    finding: ['few', /as its owner, whom policies do not limit/]
  },
  'a view on a view of the owner': {
    sql: [
      ...noForce,
      'CREATE VIEW hidden AS SELECT * FROM visits',
      'CREATE VIEW few AS SELECT * FROM hidden',
      'GRANT SELECT ON few TO APP'
    ],
    grantsFirst: true,
    finding: ['few', /reads visits as its owner/]
  },
  'a view in place of the table without a condition': {
    sql: [...hidden, view('true', ''), grantView],
    grantsFirst: true,
    finding: ['visits', /as its owner/]
  },
  'a view in place of the table whose condition has OR': {
    sql: [...hidden, view(`tenant = ${now} OR total > 5`), grantView],
    grantsFirst: true,
    finding: ['visits', /as its owner/]
  },
  'a view in place of the table with a union': {
    sql: [...hidden, `${view(`tenant = ${now}`)} UNION ALL SELECT * FROM all_visits`, grantView],
    grantsFirst: true,
    finding: ['visits', /as its owner/]
  },
  'a view in place of the table without CHECK OPTION': {
    sql: [...hidden, view(`tenant = ${now}`), grantView],
    grantsFirst: true,
    finding: ['visits', /rows of other tenants can be written/]
  },
  'a materialized view': {
    sql: ['CREATE MATERIALIZED VIEW totals AS SELECT tenant, total FROM visits'],
    finding: ['totals', /has rows of all tenants/]
  },
  'a foreign table': {
    sql: [
      'CREATE FOREIGN DATA WRAPPER nowhere',
      'CREATE SERVER nowhere FOREIGN DATA WRAPPER nowhere',
      'CREATE FOREIGN TABLE archive (tenant text NOT NULL) SERVER nowhere',
      'GRANT SELECT ON archive TO APP'
    ],
    finding: ['archive', /cannot have policies/]
  },
  'a partition that is read directly': {
    sql: [
      'CREATE TABLE events (tenant text NOT NULL, at date) PARTITION BY RANGE (at)',
      "CREATE TABLE events_2026 PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')",
      limit('events'),
      secure('events')
    ],
    finding: ['events_2026', /can be read directly/]
  },
  'a SECURITY DEFINER function of the owner': {
    sql: [...noForce, definer('all_visits')],
    finding: ['all_visits()', /with the rights of \w+, whom policies do not bind/]
  },
  'a SECURITY DEFINER function of a superuser': {
    sql: [definer('all_visits').replace('CREATE', 'CREATE OR REPLACE')],
    finding: ['all_visits()', /with the rights of \w+, whom policies do not bind/]
  },
  'a SECURITY DEFINER function of a trigger': {
    sql: [
      ...noForce,
      'CREATE FUNCTION note() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$',
      'REVOKE ALL ON FUNCTION note() FROM PUBLIC',
      'CREATE TRIGGER note BEFORE INSERT ON visits FOR EACH ROW EXECUTE FUNCTION note()'
    ],
    finding: ['note()', /with the rights of/]
  },
  TRUNCATE: { sql: ['GRANT TRUNCATE ON visits TO APP'], finding: ['visits', /may TRUNCATE visits/] },
  'a foreign key without the tenant': {
    sql: [
      'ALTER TABLE patients ADD CONSTRAINT patients_id UNIQUE (id)',
      'ALTER TABLE visits ADD CONSTRAINT visits_of FOREIGN KEY (patient) REFERENCES patients (id) ON DELETE CASCADE'
    ],
    finding: [
      'visits_of',
      /refer to a row of another tenant in patients, so that .+FOREIGN KEY \(tenant, patient\) REFERENCES patients \(tenant, id\)/
    ],
    also: ['patients_id']
  },
  'a foreign key without the tenant that does not cascade': {
    sql: [
      'ALTER TABLE patients ADD CONSTRAINT patients_id UNIQUE (id)',
      'ALTER TABLE visits ADD CONSTRAINT visits_of FOREIGN KEY (patient) REFERENCES patients (id)'
    ],
    also: ['patients_id'],
    finding: ['visits_of', /refer to a row of another tenant in patients\./]
  },
  'a foreign key from a shared table': {
    sql: ['ALTER TABLE plans ADD best text, ADD best_id bigint, ADD CONSTRAINT plans_best FOREIGN KEY (best, best_id) REFERENCES patients'],
    finding: ['plans_best', /whose rows have a tenant/]
  },
  'a unique key across tenants': {
    sql: ['CREATE UNIQUE INDEX visits_once ON visits (lower(tenant), at)'],
    finding: ['visits_once', /shows that they exist/]
  },
  'an exclusion across tenants': {
    sql: ['ALTER TABLE visits ADD CONSTRAINT visits_once EXCLUDE USING btree (at WITH =)'],
    finding: ['visits_once', /shows that they exist/]
  },
  'an order that is not led by the tenant': {
    sql: ['CREATE INDEX visits_by_at ON visits (at, id)'],
    finding: ['visits_by_at', /does not begin with tenant.+\(tenant, at, id\)/]
  },
  'a unique order that is not led by the tenant': {
    sql: ['CREATE UNIQUE INDEX visits_by_at ON visits (at, tenant)'],
    finding: ['visits_by_at', /on \(tenant, at\)/]
  },
  'an order by numeric': {
    sql: ['CREATE INDEX visits_total ON visits (tenant, total, id)'],
    finding: ['visits_total', /operators of numeric are not leakproof/]
  },
  'an index on an enum': {
    sql: [
      "CREATE TYPE state AS ENUM ('open')",
      'ALTER TABLE visits ADD state state',
      'CREATE INDEX visits_state ON visits (tenant, state)'
    ],
    finding: ['visits_state', /operators of state are not leakproof/]
  },
  'an index on an array': {
    sql: ['ALTER TABLE visits ADD tags text[]', 'CREATE INDEX visits_tags ON visits USING gin (tags)'],
    finding: ['visits_tags', /operators of text are not leakproof/]
  },
  'an index on jsonb': {
    sql: ['ALTER TABLE visits ADD data jsonb', 'CREATE INDEX visits_data ON visits USING gin (data)'],
    finding: ['visits_data', /are not leakproof/]
  }
}

/** Configurations that keep tenants apart, and must have no finding. */
const remedies: Readonly<Record<string, Trap['sql']>> = {
  'nothing else': [],
  'a restrictive policy': ['CREATE POLICY recent ON visits AS RESTRICTIVE USING (total > 0)'],
  'a STABLE function in a policy': [
    `CREATE FUNCTION tenant_now() RETURNS text STABLE LANGUAGE sql AS $$ SELECT NULLIF(current_setting('app.tenant', true), '') $$`,
    ...replacePolicy('CREATE POLICY tenant ON visits USING (total > 0 AND (SELECT tenant_now()) = tenant)')
  ],
  'a tenant that is a uuid': [
    'CREATE TABLE rooms (tenant uuid NOT NULL, id bigint, PRIMARY KEY (tenant, id))',
    `CREATE POLICY tenant ON rooms USING (tenant = (SELECT NULLIF(current_setting('app.tenant', true), '')::uuid))`,
    secure('rooms')
  ],
  'a tenant that is a varchar': [
    'CREATE TABLE rooms (tenant varchar(64) NOT NULL, id bigint, PRIMARY KEY (tenant, id))',
    limit('rooms'),
    secure('rooms')
  ],
  'a view of an owner that policies bind': ['CREATE VIEW few AS SELECT * FROM visits'],
  'a view in place of the table': [...hidden, view(`tenant = ${now}`, 'WITH CHECK OPTION'), grantView],
  'a view in place of the table that the service only reads': [...hidden, view(`tenant = ${now}`), 'GRANT SELECT ON visits TO APP'],
  'a SECURITY DEFINER function of an owner that policies bind': [definer('all_visits')],
  'a SECURITY DEFINER function that the role cannot execute': [
    ...noForce,
    definer('all_visits'),
    'REVOKE ALL ON FUNCTION all_visits() FROM PUBLIC'
  ],
  'a partition without rights': [
    'CREATE TABLE events (tenant text NOT NULL, at date) PARTITION BY RANGE (at)',
    "CREATE TABLE events_2026 PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')",
    limit('events'),
    secure('events'),
    'GRANT SELECT ON events TO APP'
  ]
}

interface Place {
  /** Runs statements in a schema as the owner, or as a superuser. */
  readonly run: (schema: string, sql: readonly string[], as?: 'superuser') => Promise<void>
  readonly databaseOf: (role: Role) => Promise<Postgres>
  readonly names: Readonly<Record<Role, string>>
}

async function onPostgreSQL(t: Test): Promise<Place> {
  const { admin, owner, service, app } = await freshRoles(t, server)
  const urls = { app: service, owner, superuser: admin }
  const opened = new Map<Role, Postgres>()
  const [owners, admins] = (await Promise.all(
    [owner, admin].map(async (connectionString) => {
      const client = new Client({ connectionString })
      t.teardown(() => client.end())
      await client.connect()
      return client
    })
  )) as [Client, Client]
  return {
    names: { app, owner: new URL(owner).username, superuser: new URL(admin).username },
    async run(schema, sql, as) {
      const client = as === undefined ? owners : admins
      await client.query(`SET search_path TO ${schema}`)
      for (const statement of sql) await client.query(statement)
    },
    async databaseOf(role) {
      const pool = new Pool({ connectionString: urls[role], max: 1, pipeline: true })
      if (!opened.has(role)) t.teardown(() => pool.end())
      const database = opened.get(role) ?? fromPool(pool, { tenantSetting })
      opened.set(role, database)
      return database
    }
  }
}

async function onPGlite(t: Test): Promise<Place> {
  const engine = await startPGlite()
  t.teardown(() => engine.close())
  const names = { app: 'service_app', owner: 'service_owner', superuser: 'postgres' }
  await engine.exec(`CREATE ROLE ${names.app}; CREATE ROLE ${names.owner}; ALTER DATABASE postgres OWNER TO ${names.owner}`)
  return {
    names,
    async run(schema, sql, as) {
      await engine.exec(`SET search_path TO ${schema}; SET ROLE ${as === undefined ? names.owner : names.superuser}`)
      for (const statement of sql) await engine.exec(statement)
      await engine.exec('RESET ROLE; RESET search_path')
    },
    async databaseOf(role) {
      await engine.exec(`SET ROLE ${names[role]}`)
      return fromPGlite(engine, { tenantSetting })
    }
  }
}

const needSuperuser = /^(?:ALTER ROLE|GRANT OWNER|CREATE (?:FOREIGN|SERVER|OR REPLACE)|GRANT SELECT ON archive)/

/** Builds a sound database with a change in a schema of its own, and returns what the check finds, without the name of the schema. */
async function findingsOf(t: Test, place: Place, sql: readonly string[], { as = 'app', grantsFirst = false }: Partial<Trap> = {}) {
  const { names, run, databaseOf } = place
  const schema = `trap_${randomUUID().slice(0, 8)}`
  const named = (statement: string) => statement.replaceAll(/\bAPP\b/g, names.app).replaceAll(/\bOWNER\b/g, names.owner)
  const grants = [
    `GRANT USAGE ON SCHEMA ${schema} TO APP`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO APP`
  ].map(named)
  await run(schema, [`CREATE SCHEMA ${schema}`, ...sound, ...(grantsFirst ? grants : [])])
  await run(schema, sql.filter((one) => !needSuperuser.test(one)).map(named))
  if (!grantsFirst) await run(schema, grants)
  await run(schema, sql.filter((one) => needSuperuser.test(one)).map(named), 'superuser')
  t.teardown(() =>
    run(
      'public',
      [
        `ALTER ROLE ${names.app} NOBYPASSRLS`,
        `REVOKE ${names.owner} FROM ${names.app}`,
        `DROP SCHEMA ${schema} CASCADE`,
        'DROP FOREIGN DATA WRAPPER IF EXISTS nowhere CASCADE'
      ],
      'superuser'
    )
  )
  async function find(options = {}): Promise<readonly TenantFinding[]> {
    try {
      await checkTenants(await databaseOf(as), { schemas: [schema], shared: ['plans'], ...options })
      return []
    } catch (error) {
      if (!(error instanceof TenantIsolationError)) throw error
      return error.findings
    } finally {
      // PGlite has one connection.
      if ('exec' in place) await place.run('public', [])
    }
  }
  const plain = (text: string) => text.replaceAll(`${schema}.`, '')
  const found = (await find()).map(({ name, problem, remedy }) => ({ name: plain(name), line: plain(`${problem} ${remedy}`), remedy }))
  return { found, find, fix: (statement: string) => run(schema, [statement], 'superuser'), schema }
}

for (const [kind, begin] of Object.entries({ PGlite: onPGlite, ...(server !== '' && { PostgreSQL: onPostgreSQL }) })) {
  t.test(`finds each way in which tenants meet, on ${kind}`, async (t) => {
    const place = await begin(t)
    for (const [title, sql] of Object.entries(remedies)) {
      await t.test(`none: ${title}`, async (t) =>
        t.strictSame(
          (await findingsOf(t, place, sql, { grantsFirst: true })).found.map(({ line }) => line),
          []
        )
      )
    }
    for (const [title, trap] of Object.entries(traps)) {
      await t.test(title, async (t) => {
        const { names } = place
        const { found, find, fix } = await findingsOf(t, place, trap.sql, trap)
        const name = trap.finding[0].replace('APP', names.app).replace('ROLE', names.superuser)
        t.strictSame(
          found.map((one) => one.name),
          [name, ...(trap.also ?? [])],
          found.map(({ line }) => line).join('\n')
        )
        t.match(found[0]?.line, trap.finding[1])
        const [, statement] = /Run ((?:ALTER|REVOKE|CREATE) .+?)(?:, or .+)?\.$/.exec(found[0]?.remedy ?? '') ?? []
        if (statement === undefined || trap.also !== undefined) return
        await fix(statement)
        t.strictSame(
          (await find()).map(({ problem }) => problem),
          [],
          statement
        )
      })
    }
  })
}

t.test('leaves out what is waived with a reason, and finds waivers without effect', async (t) => {
  const { find } = await findingsOf(t, await onPGlite(t), ['CREATE UNIQUE INDEX visits_once ON visits (at)'])
  t.strictSame(await find({ waive: { visits_once: 'The times are random.' } }), [])
  t.strictSame(await find({ waive: { visits_once: 'The times are random.', other: 'It is.' } }), [
    { name: 'other', problem: 'The waiver "other" has no effect.', remedy: 'Remove it.' }
  ])
  await t.rejects(find({ waive: { visits_once: ' ' } }), {
    name: 'TypeError',
    message: /options\.waive\["visits_once"\] must have a reason/
  })
  await t.rejects(find({ column: 'a|b' }), { name: 'TypeError', message: /options\.column "a\|b" must consist of/ })
  t.match(await find({ schemas: ['nothing'] }), [{ problem: 'The schemas nothing have no tables.' }, { name: 'plans' }])
})

t.test('needs the setting in which policies find the tenant', async (t) => {
  const { database } = connect(t)
  await t.rejects(checkTenants(database), { name: 'TypeError', message: /Set tenantSetting/ })
  const error = new TenantIsolationError([{ name: 'a', problem: 'A is wrong.', remedy: 'Fix it.' }])
  t.equal(error.message, 'postgres: the database does not keep tenants apart:\n- A is wrong. Fix it.')
})
