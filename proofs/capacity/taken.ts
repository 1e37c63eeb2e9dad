import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import type { Pool } from 'pg'

// What a second of processor time is in /proc, on Linux.
const ticksPerSecond = 100

/** Prints the title of a table, with the load of the machine. */
export function heading(title: string) {
  process.stdout.write(`\n${title} (${availableParallelism()} processors, load ${loadavg()[0]?.toFixed(1)})\n\n`)
}

/** Prints a line of a table. */
export const line = (...cells: (string | number)[]) =>
  process.stdout.write(
    `| ${cells.map((cell) => (typeof cell === 'number' ? Math.round(cell).toLocaleString('en') : cell)).join(' | ')} |\n`
  )

/** Returns the middle of the values. */
export const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number

/** Runs work so many times, and returns the bytes that each takes in the tables and in the log. */
export async function taken(pool: Pool, tables: readonly string[], times: number, work: (n: number) => Promise<unknown>) {
  const postmaster = await postmasterOf(pool)
  const total = `SELECT ${tables.map((table) => `pg_total_relation_size('${table}')`).join(' + ')} AS bytes`
  const state = async () => {
    const { rows } = await pool.query(`${total}, pg_current_wal_insert_lsn() - '0/0' AS position`)
    return { ...(rows[0] as Record<'bytes' | 'position', string>), ticks: ticksOf(postmaster) }
  }
  await pool.query('CHECKPOINT')
  const before = await state()
  for (let n = 0; n < times; n += 20) await Promise.all(Array.from({ length: 20 }, (_, index) => work(n + index)))
  const after = await state()
  const each = (name: keyof typeof after) => (Number(after[name]) - Number(before[name])) / times
  return { bytes: each('bytes'), wal: each('position'), microseconds: each('ticks') * (1e6 / ticksPerSecond) }
}

function statOf(pid: string | number) {
  // A process may end at any moment.
  const path = `/proc/${pid}/stat`
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  return text.split(') ').at(-1)?.split(' ') ?? []
}

async function postmasterOf(pool: Pool) {
  const { rows } = await pool.query('SELECT pg_backend_pid() AS pid')
  return statOf(rows[0].pid)[1]
}

/** Returns the processor time of all processes of the server, also of those that have ended. */
function ticksOf(postmaster = '') {
  const living = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const own = living.map(statOf).filter(([, parent]) => parent === postmaster)
  const ended = statOf(postmaster).slice(13, 15)
  return [...own.flatMap((stat) => stat.slice(11, 13)), ...ended].reduce((sum, ticks) => sum + Number(ticks), 0)
}
