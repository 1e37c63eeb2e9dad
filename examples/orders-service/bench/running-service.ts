// What the benchmarks of the running service have in common: a database of its own, a process, and the processor time that it uses. Runs on Linux.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'

const ticksPerSecond = 100

/** Creates a database on the server of `TEST_DATABASE_URL`. */
export async function createDatabase(
  prefix: string
): Promise<{ readonly name: string; readonly url: string; readonly drop: () => Promise<void> }> {
  const server = process.env['TEST_DATABASE_URL']
  if (server === undefined) throw new Error('Set TEST_DATABASE_URL to the address of a PostgreSQL server.')
  const name = `${prefix}_${randomUUID().slice(0, 8)}`
  const administer = async (statement: string) => {
    const client = new Client({ connectionString: server })
    await client.connect()
    await client.query(statement)
    await client.end()
  }
  await administer(`CREATE DATABASE ${name}`)
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).href
  return { name, url, drop: () => administer(`DROP DATABASE ${name} WITH (FORCE)`) }
}

/** Starts the service in a process, and returns it with its address. */
export async function startService(
  folder: string,
  variables: NodeJS.ProcessEnv,
  command: readonly string[] = []
): Promise<{ readonly child: ChildProcess; readonly address: string }> {
  const [program, ...words] = [...command, process.execPath, '--conditions=@concordat/source', join(folder, 'src/main.ts')]
  const child = spawn(program, words, {
    env: { ...process.env, NODE_ENV: 'test', PORT: '0', LOG_LEVEL: 'error', ...variables },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  let out = ''
  for await (const chunk of child.stdout as NodeJS.ReadableStream) {
    out += String(chunk)
    if (out.includes('Orders service at ')) break
  }
  return { child, address: /Orders service at (\S+)/.exec(out)?.[1] ?? '' }
}

/** Returns the seconds of processor time that processes have used. */
export function cpuOf(pids: readonly number[]): number {
  const ticks = pids.map((pid) => {
    // The name of the program may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return Number(fields[11]) + Number(fields[12])
  })
  return ticks.reduce((sum, more) => sum + more, 0) / ticksPerSecond
}
