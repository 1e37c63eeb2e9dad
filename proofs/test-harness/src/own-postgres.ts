import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { freePort } from './fleet.ts'
import { type OwnServer, programPath, startOwnServer } from './own-server.ts'

/** Starts a PostgreSQL server without data, with settings such as `fsync=off`. Returns undefined if PostgreSQL is not installed. */
export async function ownPostgres(...settings: readonly string[]): Promise<OwnServer | undefined> {
  const initdb = programPath('initdb')
  if (initdb === undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'concordat-own-postgres-'))
  const owner = ownerOf(folder)
  const port = String(await freePort())
  execFileSync(initdb, ['-D', folder, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'], { ...owner, cwd: folder, stdio: 'pipe' })
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  // The folder in PATH may have a link to the folder that has all programs of a version.
  const program = join(realpathSync(initdb), '../postgres')
  const words = ['-D', folder, '-h', '127.0.0.1', '-p', port, '-k', folder, ...settings.flatMap((setting) => ['-c', setting])]
  // After SIGQUIT, PostgreSQL recovers from its write-ahead log, as after a crash.
  return startOwnServer({ url, folder, command: [program, ...words], owner, crash: 'SIGQUIT', responds: () => responds(url) })
}

/** Returns the account that runs a program which refuses to run as root, and gives it the folder. */
export function ownerOf(folder: string): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const owner = { uid: idOf('-u'), gid: idOf('-g') }
  chownSync(folder, owner.uid, owner.gid)
  return owner
}

function idOf(flag: string) {
  return Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout || 65_534)
}

/** Returns whether a PostgreSQL server, or a proxy in front of one, accepts connections. */
export async function responds(connectionString: string): Promise<boolean> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 2000 })
  client.on('error', () => {})
  return client.connect().then(
    () => client.end().then(() => true),
    () => false
  )
}
