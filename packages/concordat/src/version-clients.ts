import { hash } from 'node:crypto'
import type * as VersionUsage from '@concordat/postgres/version-usage'
import type { CountedDay } from '@concordat/postgres/version-usage'
import type { VersionClient } from '@concordat/versioning'
import { printable, Refusal, shellWord } from 'create-concordat'
import { projectDatabase, projectModule, reasonOf } from './project-database.ts'

const dayMs = 86_400_000
// Processes report at least once an hour.
const maxSilenceMs = 2 * 3_600_000
// The store lists this many clients, the one that made the last request first.
const maxClients = 10_000
const maxNameLength = 100
/** What `--confirmed` calls the requests without a known client. */
const unknown = '(unknown)'

/** What is known of who still uses a version. */
export interface Users {
  readonly text: string
  /** Whether clients that are not confirmed use the version. */
  readonly isUsed: boolean
  /** Whether the requests of the whole period were counted. Without this, no client may have been found for want of counts. */
  readonly isCovered: boolean
}

/**
 * Reads who used a version in the last days, from the table of `postgresVersionUsageStore` in the database of `DATABASE_URL` or `DATA_DIR`. Throws a
 * `Refusal` without a database, or without the table.
 */
export async function versionClients(version: string, days: number, confirmed: readonly string[], env = process.env): Promise<Users> {
  const database = await projectDatabase('in which the service counts who uses its versions', env)
  try {
    const { postgresVersionUsageStore } = await projectModule<typeof VersionUsage>('version-usage')
    const store = postgresVersionUsageStore(database.postgres)
    const [clients, counted] = [await store.list(), await store.countedDays()]
    const now = Date.now()
    const start = now - days * dayMs
    const used = usersOf(version, days, confirmed, clients, start)
    const gap = gapIn(counted, clients, days, start, now)
    if (gap === undefined) return { ...used, isCovered: true }
    const known = used.isUsed ? `${used.text}\n` : `It is not known whether clients have used ${version} in the last ${days} days. `
    return { text: known + gap, isUsed: used.isUsed, isCovered: false }
  } catch (error) {
    throw new Refusal(
      `The table of the use of versions cannot be read: ${reasonOf(error)} It comes from a start of the service with postgresVersionUsageStore.`
    )
  } finally {
    await database.close()
  }
}

function usersOf(version: string, days: number, confirmed: readonly string[], all: readonly VersionClient[], start: number) {
  const firstDay = new Date(start).toISOString().slice(0, 10)
  const clients = all
    .filter((client) => client.version === version && client.lastUsedAt >= start)
    .map((client) => ({ ...client, shown: shownName(client.client) }))
  const left = clients.filter(({ shown }) => !confirmed.includes(shown))
  if (left.length === 0) {
    const others = clients.length === 0 ? '' : ` but the confirmed: ${clients.map(({ shown }) => shown).join(', ')}`
    return { text: `No client has used ${version} in the last ${days} days${others}.`, isUsed: false }
  }
  const lines = left.map(({ shown, lastUsedAt, days: counted }) => {
    const requests = counted.reduce((sum, { day, requests: some }) => (day >= firstDay ? sum + some : sum), 0)
    return `  ${shown}: ${requests} requests, the last at ${new Date(lastUsedAt).toISOString()}`
  })
  const flags = left.map(({ shown }) => `--confirmed=${shellWord(shown)}`)
  const remedy = `Move each of them to another version, or confirm that it may break: ${flags.join(' ')}`
  const count = left.length === 1 ? '1 client has' : `${left.length} clients have`
  return { text: `${count} used ${version} in the last ${days} days.\n${lines.join('\n')}\n${remedy}`, isUsed: true }
}

/** Returns which part of the period was not counted, or is not in the list: nothing is known of it. */
function gapIn(counted: readonly CountedDay[], clients: readonly VersionClient[], days: number, start: number, now: number) {
  const latest = counted.at(-1)
  if (latest === undefined) return 'Counting begins with the first start of the service with postgresVersionUsageStore.'
  if (latest.lastReportAt < now - maxSilenceMs)
    return `No process has counted requests since ${timeText(latest.lastReportAt)}. Start the service with postgresVersionUsageStore.`
  const begin = counted.findLastIndex(({ day }, index) => Date.parse(day) - Date.parse(counted[index - 1]?.day ?? '') !== dayMs)
  const { firstReportAt } = counted[begin] as CountedDay
  if (firstReportAt > start) {
    const covered = Math.floor((now - firstReportAt) / dayMs)
    const shorter = covered === 0 ? '' : `, or with --days ${covered}`
    return `Requests have been counted without a gap only since ${timeText(firstReportAt)}. Run the command again from ${timeText(firstReportAt + days * dayMs)} on, with retentionDays of the store of at least ${days}${shorter}.`
  }
  const last = clients.at(-1)
  return clients.length < maxClients || last === undefined || last.lastUsedAt < start
    ? undefined
    : `The list ends at ${maxClients} clients, the last of them from ${timeText(last.lastUsedAt)}. Run the command with fewer --days.`
}

function timeText(time: number) {
  return new Date(time).toISOString()
}

// Clients choose their names. No two of them are shown as the same, because a command confirms what is shown.
function shownName(name: string | null) {
  if (name === null) return unknown
  if (name === unknown) return String.raw`\u{28}unknown)`
  const isLong = name.length > maxNameLength
  const start = printable(name.slice(0, maxNameLength).replaceAll('\\', String.raw`\u{5c}`))
  return isLong ? `${start}…${hash('sha256', name).slice(0, 16)}` : start
}
