import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compileCache } from '@concordat/test-harness/child'
import { type CrashReport, type CrashSoak, crashSoak } from '@concordat/test-harness/crash-soak'

/** The contents of the file at the end. */
export interface Counts {
  /** The number of keys with at least one line. */
  readonly keysDone: number
  /** The number of lines after the first of each key, which are repeated work. */
  readonly doubles: number
}

/** Options of {@link soakRedis}. */
export interface RedisSoak extends Omit<CrashSoak, 'program' | 'request'> {
  readonly redisUrl: string
  readonly leaseMs: number
}

/** Runs a soak test of the service with a separate prefix, and counts what it did. */
export async function soakRedis({ redisUrl, leaseMs, ...soak }: RedisSoak): Promise<CrashReport & Counts> {
  const folder = mkdtempSync(join(tmpdir(), 'concordat-soak-'))
  const ledger = join(folder, 'ledger')
  writeFileSync(ledger, '')
  const env = {
    ...compileCache,
    REDIS_URL: redisUrl,
    PREFIX: `concordat-soak-${randomUUID().slice(0, 8)}`,
    LEDGER: ledger,
    LEASE_MILLISECONDS: String(leaseMs)
  }
  const service = fileURLToPath(new URL('./service.ts', import.meta.url))
  const command = [process.execPath, '--conditions=@concordat/source', service] as const
  try {
    const report = await crashSoak({ ...soak, program: { command, env }, request: () => ({ path: '/orders' }) })
    const lines = readFileSync(ledger, 'utf8').trimEnd().split('\n')
    const keysDone = new Set(lines.map((line) => line.split(' ')[0])).size
    return { ...report, keysDone, doubles: lines.length - keysDone }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
