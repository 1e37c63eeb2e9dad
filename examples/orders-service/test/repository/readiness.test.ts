import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '@concordat/test-harness/until'
import t, { type Test } from 'tap'
import { signIn, startChild } from './child.ts'
import { freshFolder } from './fresh-database.ts'

/** Returns a folder on a small disk of its own, or undefined where this user cannot mount one. */
function smallDisk(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'orders-service-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=160m', 'tmpfs', folder], { stdio: 'pipe' })
  } catch {
    rmSync(folder, { recursive: true })
    return undefined
  }
  t.teardown(() => {
    execFileSync('umount', [folder])
    rmSync(folder, { recursive: true })
  })
  return folder
}

t.test('a process whose disk is full is not ready, and is ready again when there is space, without a request', async (t) => {
  const disk = smallDisk(t)
  if (disk === undefined) return t.comment('not run: only root on Linux can mount a small disk')
  cpSync((await freshFolder(t)).dataFolder, join(disk, 'data'), { recursive: true })
  const child = startChild(t, { DATA_DIR: join(disk, 'data'), LOG_LEVEL: 'error' })
  t.teardown(async () => {
    child.process.kill('SIGTERM')
    await child.ended
  })
  const address = await child.address
  const headers = await signIn(address)
  const ready = async () => {
    const response = await fetch(`${address}/health/ready`)
    return { status: response.status, body: (await response.json()) as { error?: { code: string; errors: unknown } } }
  }
  // The first read of the revocations may time out on a busy machine.
  await until(async () => (await ready()).status === 200, 50)

  const { bavail, bsize } = statfsSync(disk)
  try {
    writeFileSync(join(disk, 'full'), Buffer.alloc(bavail * bsize))
  } catch (error) {
    // The service has written meanwhile, so the disk is full earlier.
    t.equal((error as NodeJS.ErrnoException).code, 'ENOSPC')
  }
  await until(async () => (await ready()).status === 503, 50)
  const { body } = await ready()
  t.match(body.error, {
    code: 'NOT_READY',
    errors: [{ field: 'database', message: 'This store is required, and not available.' }]
  })
  t.notMatch(JSON.stringify(body), /space|disk|base\/|53100|orders-service-disk/)
  t.equal((await fetch(`${address}/health/live`)).status, 200)
  // Rows that fit into pages that exist can still be written. A write that needs more is refused.
  const statuses = await Promise.all(Array.from({ length: 50 }, () => statusOfWrite()))
  t.comment(`writes while the disk is full: ${[...new Set(statuses)].join(', ')}`)
  t.ok(statuses.every((status) => status === 202 || status === 503))

  rmSync(join(disk, 'full'))
  return until(async () => (await ready()).status === 200, 50)

  async function statusOfWrite() {
    const response = await fetch(`${address}/v2/order-exports`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{}'
    })
    return response.status
  }
})
