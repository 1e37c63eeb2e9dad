import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from './fleet.ts'
import { type OwnServer, programPath, startOwnServer } from './own-server.ts'

const durable = ['--appendonly', 'yes', '--appendfsync', 'always']

/** Starts a Redis server without data, by default with the persistence that `@concordat/redis` requires. Returns undefined if it is not installed. */
export async function ownRedis(persistence: readonly string[] = durable): Promise<OwnServer | undefined> {
  const program = programPath('redis-server')
  if (program === undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'concordat-own-redis-'))
  const port = String(await freePort())
  const url = `redis://127.0.0.1:${port}`
  const command = [program, '--bind', '127.0.0.1', '--port', port, '--dir', folder, '--save', '', ...persistence] as const
  return startOwnServer({ url, folder, command, crash: 'SIGKILL', responds: () => responds(url) })
}

/** Returns whether a Redis server accepts commands. It responds with an error while it loads its log. */
export async function responds(url: string): Promise<boolean> {
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
