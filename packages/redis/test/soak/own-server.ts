import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '@concordat/idempotency/crash-soak'
import { Redis } from 'ioredis'

/** A Redis of the test's own, which it may stop. */
export interface OwnServer {
  readonly url: string
  /** Kills it, and starts it again with what it has on disk. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Starts one with empty data, which it keeps as the README asks for; undefined where Redis isn't installed. */
export async function ownServer(): Promise<OwnServer | undefined> {
  const program = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'redis-server'))
    .find((file) => existsSync(file))
  if (program === undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'concordat-soak-'))
  const port = String(await freePort())
  const url = `redis://127.0.0.1:${port}`
  let server = await begin()

  async function begin(): Promise<ChildProcess> {
    const words = ['--bind', '127.0.0.1', '--port', port, '--dir', folder, '--save', '', '--appendonly', 'yes', '--appendfsync', 'always']
    const child = spawn(program as string, words, { stdio: 'ignore' })
    while (!(await answers(url))) {
      if (child.exitCode !== null) throw new Error('Redis ended as soon as it was started.')
      await delay(20)
    }
    return child
  }

  async function end() {
    const gone = once(server, 'exit')
    server.kill('SIGKILL')
    await gone
  }

  return {
    url,
    async restart() {
      await end()
      server = await begin()
    },
    async stop() {
      await end()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

// One that still reads its log answers with an error.
async function answers(url: string) {
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
