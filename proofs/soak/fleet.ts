// Four processes of the orders service in production settings, and what keeps them running as a supervisor does.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { childEnvironment } from '@concordat/test-harness/child'
import { freePort } from '@concordat/test-harness/fleet'
import { Daemon } from './daemon.ts'
import type { Evidence } from './evidence.ts'

const program = fileURLToPath(new URL('../../examples/orders-service/test/repository/production-process.ts', import.meta.url))
export const publicHost = 'shop.example'

export interface Member {
  readonly slot: number
  readonly port: number
  readonly log: string
  readonly daemon: Daemon
}

/** How a process ended after SIGTERM. */
export interface Stop {
  readonly slot: number
  readonly code: number | null
  readonly ms: number
  /** In milliseconds of `performance.now()`. */
  readonly endedAt: number
}

export interface Fleet {
  readonly stops: readonly Stop[]
  readonly members: readonly Member[]
  /** The secrets that the processes were given. */
  readonly secrets: readonly string[]
  /** Kills a process without warning, and starts it again. */
  kill(member: Member, downMs?: number): Promise<void>
  /** Stops a process as a release does, and starts it again. */
  replace(member: Member): Promise<void>
  /** The resident memory of a process in bytes, or undefined while it is down. */
  memoryOf(member: Member): number | undefined
  stop(): Promise<void>
}

const maxStarts = 20

export async function startFleet(folder: string, databaseUrls: readonly string[], redisUrl: string, evidence: Evidence): Promise<Fleet> {
  const secrets = { CURSOR_SECRETS: secret(), TOKEN_SECRETS: secret(), REFRESH_SECRETS: secret() }
  const state = { isOver: false }
  const stops: Stop[] = []
  const members: Member[] = []
  for (const [slot, url] of databaseUrls.entries()) {
    const port = await freePort()
    const log = join(folder, `service-${slot}.log`)
    const env = {
      ...childEnvironment(),
      ...secrets,
      NODE_ENV: 'production',
      PORT: String(port),
      DATABASE_URL: url,
      REDIS_URL: redisUrl,
      PUBLIC_URL: `https://${publicHost}`,
      TRUST_PROXY: '127.0.0.1'
    }
    const daemon = new Daemon({
      name: `process ${slot}`,
      program: process.execPath,
      words: ['--conditions=@concordat/source', program],
      cwd: folder,
      log,
      env,
      responds: async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).status === 200,
      onExit(how) {
        if (state.isOver || daemon.readyAt === 0) return
        evidence.fail('no process ended by itself', how)
        void startAgain(daemon)
      }
    })
    members.push({ slot, port, log, daemon })
    // The first one creates the tables.
    if (slot === 0) await daemon.start()
  }
  await Promise.all(members.slice(1).map(({ daemon }) => daemon.start()))

  // A start fails while the database is down; a supervisor tries again.
  async function startAgain(daemon: Daemon) {
    for (let tries = 0; !state.isOver; tries += 1) {
      try {
        return await daemon.start()
      } catch (error) {
        await daemon.stop('SIGKILL')
        if (tries === maxStarts) return evidence.fail('a process starts again', String(error))
        await delay(1000)
      }
    }
  }

  return {
    stops,
    members,
    secrets: Object.values(secrets),
    async kill({ daemon }, downMs = 0) {
      await daemon.stop('SIGKILL')
      await delay(downMs)
      await startAgain(daemon)
    },
    async replace({ daemon, slot }) {
      stops.push({ slot, ...(await daemon.stop('SIGTERM')), endedAt: performance.now() })
      await startAgain(daemon)
    },
    memoryOf({ daemon: { pid } }) {
      try {
        return pid === undefined ? undefined : Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096
      } catch {
        return undefined
      }
    },
    async stop() {
      state.isOver = true
      await Promise.all(members.map(({ daemon }) => daemon.stop('SIGTERM')))
    }
  }
}

function secret() {
  return randomBytes(32).toString('base64')
}
