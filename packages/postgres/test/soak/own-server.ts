import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '@concordat/idempotency/crash-soak'
import { Client } from 'pg'

/** A PostgreSQL of the test's own, which it may stop. */
export interface OwnServer {
  readonly url: string
  /** Stops it as a crash would, with whatever is open, and starts it again. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Starts one with empty data; undefined where PostgreSQL isn't installed. */
export async function ownServer(): Promise<OwnServer | undefined> {
  const initdb = programPath()
  if (initdb === undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'concordat-soak-'))
  const owner = ownerOf(folder)
  const port = await freePort()
  execFileSync(initdb, ['-D', folder, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'], { ...owner, cwd: folder, stdio: 'pipe' })
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  let server = await begin()

  async function begin(): Promise<ChildProcess> {
    const words = ['-D', folder, '-h', '127.0.0.1', '-p', String(port), '-k', folder]
    const child = spawn(join(initdb as string, '../postgres'), words, { ...owner, cwd: folder, stdio: 'ignore' })
    while (!(await answers(url))) {
      if (child.exitCode !== null) throw new Error('PostgreSQL ended as soon as it was started.')
      await delay(50)
    }
    return child
  }

  // SIGQUIT: it comes up by reading its log of writes, as after a crash.
  async function end() {
    const gone = once(server, 'exit')
    server.kill('SIGQUIT')
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

// The folder of a version has all programs; the one in PATH may be a link to it.
function programPath() {
  const folders = [...globSync('/usr/lib/postgresql/*/bin').toSorted().toReversed(), ...(process.env['PATH'] ?? '').split(delimiter)]
  return folders.map((folder) => join(folder, 'initdb')).find((file) => existsSync(file) && existsSync(join(file, '../postgres')))
}

// PostgreSQL refuses to run as root.
function ownerOf(folder: string) {
  if (process.getuid?.() !== 0) return {}
  const owner = { uid: idOf('-u'), gid: idOf('-g') }
  chownSync(folder, owner.uid, owner.gid)
  return owner
}

function idOf(flag: string) {
  return Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout || 65_534)
}

async function answers(connectionString: string) {
  const client = new Client({ connectionString, connectionTimeoutMillis: 2000 })
  client.on('error', () => {})
  return client.connect().then(
    () => client.end().then(() => true),
    () => false
  )
}
