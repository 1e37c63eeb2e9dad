// The databases of the soak: PostgreSQL on a disk of its own, which can be filled, and Redis. Both can be restarted.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { freePort } from '@concordat/test-harness/fleet'
import { ownerOf } from '@concordat/test-harness/own-postgres'
import { programPath } from '@concordat/test-harness/own-server'
import { Client } from 'pg'
import { postgres, redis } from '../../scripts/services.ts'
import { Daemon } from './daemon.ts'

const diskSize = '1500m'
export const maxConnections = 130

export interface Cluster {
  readonly postgres: Daemon
  readonly redis: Daemon
  readonly url: string
  readonly redisUrl: string
  readonly hasOwnDisk: boolean
  restart(how: 'fast' | 'crash'): Promise<void>
  /** Fills the disk of PostgreSQL. */
  fill(): void
  /** Frees the disk, and starts PostgreSQL again if it has ended. */
  free(): Promise<void>
  /** Runs a statement on a connection of its own, which is not limited by the service. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
}

/** Starts PostgreSQL and Redis without data, in this folder. What ends them is added to `closing`. */
export async function startCluster(folder: string, closing: (() => unknown)[]): Promise<Cluster> {
  const disk = join(folder, 'postgres')
  mkdirSync(disk)
  // PostgreSQL runs as another user when this process is root.
  chmodSync(folder, 0o755)
  const hasOwnDisk = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${diskSize}`, 'tmpfs', disk]).status === 0
  if (hasOwnDisk) closing.push(() => spawnSync('umount', [disk]))
  const owner = ownerOf(disk)
  const initdb = programPath('initdb')
  const redisServer = programPath('redis-server')
  if (!initdb || !redisServer) throw new Error('The soak needs PostgreSQL and Redis: install postgresql and redis-server.')
  const data = join(disk, 'data')
  execFileSync(initdb, ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'], { ...owner, cwd: disk, stdio: 'pipe' })
  const port = await freePort()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const settings = [`max_connections=${maxConnections}`, 'max_wal_size=128MB', 'min_wal_size=64MB', 'log_statement=none'].flatMap((one) => [
    '-c',
    one
  ])
  const server = new Daemon({
    name: 'PostgreSQL',
    program: join(dirname(initdb), 'postgres'),
    words: ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', disk, ...settings],
    cwd: disk,
    log: join(folder, 'postgres.log'),
    owner,
    responds: () => postgres.responds(url)
  })
  const redisPort = await freePort()
  const redisUrl = `redis://127.0.0.1:${redisPort}`
  const counts = new Daemon({
    name: 'Redis',
    program: redisServer,
    words: ['--bind', '127.0.0.1', '--port', String(redisPort), '--save', '', '--appendonly', 'no', '--dir', folder],
    cwd: folder,
    log: join(folder, 'redis.log'),
    responds: () => redis.responds(redisUrl)
  })
  const ballast = join(disk, 'ballast')
  closing.push(() => Promise.all([server.stop('SIGINT'), counts.stop('SIGINT')]))
  await Promise.all([server.start(), counts.start()])

  return {
    postgres: server,
    redis: counts,
    url,
    redisUrl,
    hasOwnDisk,
    async restart(how) {
      await server.stop(how === 'fast' ? 'SIGINT' : 'SIGQUIT')
      await server.start()
    },
    fill() {
      writeFileSync(ballast, '')
      // PostgreSQL writes meanwhile, so that there may be less space than was just free.
      for (let isFull = false; !isFull; ) {
        const { bavail, bsize } = statfsSync(disk)
        isFull = bavail === 0 || spawnSync('fallocate', ['-l', String(bavail * bsize), ballast]).status === 0
      }
    },
    async free() {
      rmSync(ballast, { force: true })
      if (!server.runs) await server.start()
    },
    async query<Row>(text: string, values: readonly unknown[] = []) {
      const client = new Client({ connectionString: url, connectionTimeoutMillis: 2000, query_timeout: 30_000 })
      client.on('error', () => {})
      try {
        await client.connect()
        return (await client.query(text, [...values])).rows as Row[]
      } finally {
        await client.end().catch(() => {})
      }
    }
  }
}
