import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import type * as Open from '@concordat/postgres/open'
import type * as VersionUsage from '@concordat/postgres/version-usage'
import type { VersionClient } from '@concordat/versioning'
import { Refusal } from 'create-concordat'

const dayMs = 86_400_000
/** What `--confirmed` calls the requests without a known client. */
const unknown = '(unknown)'

/** The answer to who still uses a version. */
export interface Users {
  readonly text: string
  /** Whether clients use the version that nobody has confirmed. */
  readonly isUsed: boolean
}

/**
 * Reads who used a version in the last days, from the table of `postgresVersionUsageStore` in the database of `DATABASE_URL` or `DATA_DIR`. Throws a
 * `Refusal` without a database, or without the table.
 */
export async function versionClients(version: string, days: number, confirmed: readonly string[], env = process.env): Promise<Users> {
  const { DATABASE_URL: url, DATA_DIR: folder } = env
  if (url === undefined && folder === undefined)
    throw new Refusal('Set DATABASE_URL, or DATA_DIR for PGlite, to the database in which the service counts who uses its versions.')
  const { openDatabase } = await projectModule<typeof Open>('open')
  const database = await openDatabase({ url, folder })
  try {
    const { postgresVersionUsageStore } = await projectModule<typeof VersionUsage>('version-usage')
    const clients = await postgresVersionUsageStore(database.postgres).list()
    return answer(version, days, confirmed, clients, Date.now())
  } catch (error) {
    throw new Refusal(
      `The table of the use of versions cannot be read: ${reasonOf(error)} It comes from a start of the service with postgresVersionUsageStore.`
    )
  } finally {
    await database.close()
  }
}

// Resolved from the working directory, because the store belongs to the service there.
async function projectModule<Module>(name: string): Promise<Module> {
  try {
    return (await import(pathToFileURL(createRequire(`${process.cwd()}/`).resolve(`@concordat/postgres/${name}`)).href)) as Module
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== 'MODULE_NOT_FOUND') throw error
    throw new Refusal('@concordat/postgres is not installed here. Run the command in the folder of the service.')
  }
}

function answer(version: string, days: number, confirmed: readonly string[], all: readonly VersionClient[], now: number): Users {
  const since = now - days * dayMs
  const firstDay = new Date(since).toISOString().slice(0, 10)
  const clients = all.filter((client) => client.version === version && client.lastUsedAt >= since)
  const left = clients.filter(({ client }) => !confirmed.includes(client ?? unknown))
  if (left.length === 0) {
    const others = clients.length === 0 ? '' : ` but the confirmed: ${clients.map(({ client }) => client ?? unknown).join(', ')}`
    return { text: `No client has used ${version} in the last ${days} days${others}.`, isUsed: false }
  }
  const lines = left.map(({ client, lastUsedAt, days: counted }) => {
    const requests = counted.reduce((sum, { day, requests: some }) => (day >= firstDay ? sum + some : sum), 0)
    return `  ${client ?? unknown}: ${requests} requests, the last at ${new Date(lastUsedAt).toISOString()}`
  })
  const remedy = `Move each of them to another version, or confirm that it may break: ${left.map(({ client }) => `--confirmed "${client ?? unknown}"`).join(' ')}`
  const count = left.length === 1 ? '1 client has' : `${left.length} clients have`
  return { text: `${count} used ${version} in the last ${days} days.\n${lines.join('\n')}\n${remedy}`, isUsed: true }
}

function reasonOf(error: unknown) {
  const { cause, message } = error as Error
  return `${cause instanceof Error ? cause.message : message}.`
}
