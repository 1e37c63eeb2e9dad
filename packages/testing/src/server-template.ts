import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { requirePeers } from '@concordat/plugin-kit/options'
import type { Client } from 'pg'
import { atEndOf, type EndOfTest } from './cleanups.ts'
import type { Template } from './template.ts'

const undefinedDatabase = '3D000'
const forbidden = '42501'
// A database that a killed process has left. Tests end sooner.
const leftoverMs = 86_400_000
// A template of a project that was deleted, or is not tested on this server now.
const maxUnusedMs = 30 * 86_400_000
// Its comment says where a template is used, and since when it has not been.
const commentStart = `concordat-testing ${hostname()} `
const noted = new Set<string>()
// A test that moves Date must not make the databases of others look old.
const realTime = () => Math.floor(performance.timeOrigin + performance.now())

/**
 * Creates a database on a server, which is dropped at the end of the test, and returns its URL. It is a copy of a template, which is made when it does
 * not exist, or empty without a template.
 */
export async function freshServerDatabase(t: EndOfTest, serverUrl: string, template?: Template): Promise<string> {
  const name = `concordat_test_${template?.project ?? 'empty'}_${realTime()}_${randomUUID().slice(0, 8)}`
  await connected(serverUrl, async (client) => {
    while (!(await created(client, name, template))) await make(client, serverUrl, template as Template)
    if (template !== undefined) await noteUse(client, nameOf(template))
  })
  atEndOf(t, () => connected(serverUrl, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)))
  return urlOf(serverUrl, name)
}

// Returns false when the template does not exist, or when a run with other files has dropped it.
async function created(client: Client, name: string, template: Template | undefined) {
  try {
    await client.query(`CREATE DATABASE ${name}${template === undefined ? '' : ` TEMPLATE ${nameOf(template)}`}`)
    return true
  } catch (error) {
    const { code } = error as { readonly code?: string }
    if (code === undefinedDatabase) return false
    if (code !== forbidden) throw error
    throw new Error('testing: the role of TEST_DATABASE_URL may not create databases. Run: ALTER ROLE … CREATEDB', { cause: error })
  }
}

// Once per process. Of two that note it at the same time, one fails, which has no effect.
async function noteUse(client: Client, name: string) {
  if (noted.has(name)) return
  noted.add(name)
  await client.query(`COMMENT ON DATABASE ${name} IS ${client.escapeLiteral(commentStart + realTime())}`).catch(() => {})
}

// The lock belongs to the connection, so that it ends with it, also in a killed process.
async function make(client: Client, serverUrl: string, template: Template) {
  const name = nameOf(template)
  await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [`concordat testing ${template.project}`])
  if ((await client.query('SELECT FROM pg_database WHERE datname = $1', [name])).rowCount === 1) return
  await dropOthers(client, template)
  // Under its name, a template is complete.
  const unfinished = `${name}_unfinished`
  await client.query(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`)
  await client.query(`CREATE DATABASE ${unfinished}`)
  await template.make({ databaseUrl: urlOf(serverUrl, unfinished), dataFolder: 'memory://' })
  // A database with connections can be neither renamed nor copied, and a connection ends a moment after it is closed.
  await client.query(`ALTER DATABASE ${unfinished} ALLOW_CONNECTIONS false`)
  await client.query(
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'",
    [unfinished]
  )
  await client.query(`ALTER DATABASE ${unfinished} RENAME TO ${name}`)
}

// The templates of the same project before its files were changed, those that this machine has not used for long, and databases of tests that were killed.
async function dropOthers(client: Client, { project, state }: Template) {
  const { rows } = await client.query<{ datname: string }>(
    `SELECT datname FROM pg_database
    WHERE starts_with(datname, $1) AND NOT starts_with(datname, $2)
      OR starts_with(datname, $3) AND split_part(datname, '_', 4)::bigint < $4
      OR starts_with(datname, 'concordat_template_') AND pg_get_userbyid(datdba) = current_user AND CASE
        WHEN starts_with(shobj_description(oid, 'pg_database'), $5) THEN split_part(shobj_description(oid, 'pg_database'), ' ', 3)::bigint < $6 END`,
    [
      `concordat_template_${project}_`,
      `concordat_template_${project}_${state}_`,
      `concordat_test_${project}_`,
      realTime() - leftoverMs,
      commentStart,
      realTime() - maxUnusedMs
    ]
  )
  for (const { datname } of rows) await client.query(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`)
}

async function connected(serverUrl: string, work: (client: Client) => Promise<unknown>) {
  requirePeers('testing: freshDatabase', ['pg@8.12'], import.meta)
  const { Client } = (await import('pg')).default
  const client = new Client({ connectionString: serverUrl })
  await client.connect().catch((cause: unknown) => {
    throw new Error(
      `testing: the PostgreSQL of TEST_DATABASE_URL cannot be reached: ${reasonOf(cause)}. Start it, or unset the variable.`,
      { cause }
    )
  })
  await work(client).finally(() => client.end())
}

// Node.js has an error without a message for a host with several addresses.
function reasonOf(error: unknown) {
  const { message, code } = error as { readonly message?: string; readonly code?: string }
  return message || code
}

function nameOf({ project, state, name }: Template) {
  return `concordat_template_${project}_${state}_${name}`
}

function urlOf(serverUrl: string, name: string) {
  return Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href
}
