import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '@concordat/postgres/open'
import t from 'tap'

t.test('a check fails while the write-ahead log cannot grow, although there is space for a small file', async (t) => {
  const disk = mkdtempSync(join(tmpdir(), 'concordat-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=160m', 'tmpfs', disk], { stdio: 'pipe' })
  } catch {
    rmSync(disk, { recursive: true })
    return t.comment('not run: only root on Linux can mount a small disk')
  }
  t.teardown(() => {
    execFileSync('umount', [disk])
    rmSync(disk, { recursive: true })
  })
  const database = await openDatabase({ folder: join(disk, 'data') })
  t.teardown(() => database.close())
  const other = join(disk, 'other')
  const leaveSpace = (bytes: number) => {
    rmSync(other, { force: true })
    const { bavail, bsize } = statfsSync(disk)
    writeFileSync(other, Buffer.alloc(bavail * bsize - bytes))
  }
  leaveSpace(9 * 2 ** 20)
  t.equal(await database.check(), 'available', 'changes succeed while the current file of the log has room')

  // What PGlite reports when there is no space for the next file of the log, which has 16 MiB.
  const full = Object.assign(new Error('could not write to file "pg_wal/xlogtemp.42": No space left on device'), { code: '53100' })
  t.ok(database.refusesWrites(new Error('wrapped', { cause: full })))
  for (let check = 0; check < 3; check += 1) await t.rejects(database.check(), { code: 'SERVICE_UNAVAILABLE', cause: { code: '53100' } })
  leaveSpace(40 * 2 ** 20)
  t.equal(await database.check(), 'available', 'without a request')
  leaveSpace(9 * 2 ** 20)
  return t.equal(await database.check(), 'available')
})
