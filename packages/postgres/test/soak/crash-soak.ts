import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'pg'
import { askUntilDone, type Told } from './client.ts'
import { type Fleet, startFleet } from './fleet.ts'
import { makeTables } from './tables.ts'

const servedBeforeKill = 20
const clients = 16

/** How hard it is to be. */
export interface Load {
  readonly databaseUrl: string
  readonly schema: string
  readonly processes: number
  readonly kills: number
  readonly keys: number
  readonly onProgress?: (done: number, kills: number) => void
  /** Is run when half of the keys are done. */
  readonly halfway?: () => Promise<void>
}

/** What came of it. */
export interface Report {
  readonly keys: number
  readonly kills: number
  readonly rows: number
  readonly events: number
  /** Keys with more than one row. */
  readonly doubles: number
  /** Keys whose retries were told something else than the first time. */
  readonly divergent: number
  /** Requests that a killed process took along. */
  readonly lost: number
  /** From the kill to the success of a request that was on the killed process. */
  readonly takeoverMilliseconds: Spread
  /** How long requests took that no kill has touched, to compare with. */
  readonly usualMilliseconds: Spread
  readonly seconds: number
}

interface Spread {
  readonly p50: number
  readonly p99: number
  readonly longest: number
}

/** Kills processes at random while clients make orders, each with a key of its own, and asks for each of them once more at the end. */
export async function crashSoak(load: Load): Promise<Report> {
  const { databaseUrl, schema, keys, kills } = load
  const pool = new Pool({ connectionString: databaseUrl, max: 2 })
  pool.on('error', () => {})
  await makeTables(pool, schema)
  const begun = performance.now()
  const fleet = await startFleet(load.processes, { DATABASE_URL: databaseUrl, SCHEMA: schema })
  try {
    const seen = new Map<string, Told>()
    const progress = { next: 0, done: 0, killed: 0, divergent: 0 }
    const killedAt = new Map<string, number>()
    const takeovers: number[] = []
    const usual: number[] = []
    let half = load.halfway

    const work = async () => {
      while (progress.next < keys || progress.killed < kills) {
        // Once all keys are there, their retries are what is killed.
        const key = `key-${progress.next < keys ? progress.next++ : Math.floor(Math.random() * keys)}`
        const asked = performance.now()
        let since: number | undefined
        note(key, await askUntilDone(fleet, key, ({ url }) => (since ??= killedAt.get(url))))
        if (since === undefined) usual.push(performance.now() - asked)
        else takeovers.push(performance.now() - since)
        progress.done += 1
        if (progress.done * 2 >= keys && half) {
          const run = half
          half = undefined
          await run()
        }
      }
    }
    function note(key: string, told: Told) {
      const first = seen.get(key)
      if (first === undefined) seen.set(key, told)
      else if (first.body !== told.body || first.location !== told.location) progress.divergent += 1
    }
    const killer = async () => {
      while (progress.killed < kills) {
        const ready = fleet.members.filter(({ isUp, served }) => isUp && served >= servedBeforeKill)
        const victim = ready[Math.floor(Math.random() * ready.length)]
        if (victim === undefined) {
          await delay(10)
          continue
        }
        killedAt.set(victim.url, performance.now())
        await fleet.kill(victim)
        progress.killed += 1
        load.onProgress?.(progress.done, progress.killed)
        // Not sooner than the share of the keys that belongs to this kill.
        while (progress.killed < kills && progress.done < (keys * progress.killed) / kills) await delay(5)
      }
    }
    await Promise.all([killer(), ...Array.from({ length: clients }, work)])
    await askAgain(fleet, keys, note)
    const counts = await countRows(pool, schema)
    return {
      keys,
      kills: progress.killed,
      ...counts,
      divergent: progress.divergent,
      lost: takeovers.length,
      takeoverMilliseconds: spreadOf(takeovers),
      usualMilliseconds: spreadOf(usual),
      seconds: Math.round((performance.now() - begun) / 1000)
    }
  } finally {
    await fleet.stop()
    await pool.query(`DROP SCHEMA ${schema} CASCADE`)
    await pool.end()
  }
}

async function askAgain(fleet: Fleet, keys: number, note: (key: string, told: Told) => void) {
  let next = 0
  const work = async () => {
    while (next < keys) {
      const key = `key-${next++}`
      note(key, await askUntilDone(fleet, key))
    }
  }
  await Promise.all(Array.from({ length: clients }, work))
}

async function countRows(pool: Pool, schema: string) {
  const { rows } = await pool.query<{ rows: number; events: number; doubles: number }>(
    `SELECT (SELECT count(*)::int FROM ${schema}.orders) AS rows, (SELECT count(*)::int FROM ${schema}.events) AS events,
      (SELECT count(*)::int FROM (SELECT FROM ${schema}.orders GROUP BY client_key HAVING count(*) > 1) AS twice) AS doubles`
  )
  return rows[0] as { rows: number; events: number; doubles: number }
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (part: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0)
  return { p50: at(0.5), p99: at(0.99), longest: at(1) }
}
