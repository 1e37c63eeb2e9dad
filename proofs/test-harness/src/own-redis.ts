import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from './fleet.ts'
import { type OwnServer, startOwnServer } from './own-server.ts'

/** Starts a Redis server without data, with the persistence that `@concordat/redis` requires. Returns undefined if it is not installed. */
export async function ownRedis(): Promise<OwnServer | undefined> {
  const program = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'redis-server'))
    .find((file) => existsSync(file))
  if (program === undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'concordat-own-redis-'))
  const port = String(await freePort())
  const url = `redis://127.0.0.1:${port}`
  const durable = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always']
  const command = [program, '--bind', '127.0.0.1', '--port', port, '--dir', folder, ...durable] as const
  return startOwnServer({ url, folder, command, crash: 'SIGKILL', responds: () => responds(url) })
}

// Redis responds with an error while it loads its log.
async function responds(url: string) {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 }).on('error', () => {})
  return client
    .connect()
    .then(() => client.ping())
    .then(
      () => true,
      () => false
    )
    .finally(() => client.disconnect())
}
