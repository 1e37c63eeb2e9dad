import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './fleet.ts'
import { ownerOf, responds } from './own-postgres.ts'
import { type OwnServer, startOwnServer } from './own-server.ts'

const program = process.env['TEST_PGBOUNCER']

/** Options of a test that needs PgBouncer in front of the PostgreSQL server of the run. */
export const onPgBouncer: { readonly skip?: string } =
  program === undefined || process.env['TEST_DATABASE_URL'] === undefined
    ? { skip: 'set TEST_PGBOUNCER to the path of pgbouncer, and TEST_DATABASE_URL' }
    : {}

/** Starts PgBouncer in transaction mode in front of a server. Its URL has the database of `target`; `ignored` are startup parameters. */
export async function startPgBouncer(target: string, ignored: string): Promise<OwnServer> {
  const { hostname, port: serverPort, username, password, pathname } = new URL(target)
  const folder = mkdtempSync(join(tmpdir(), 'concordat-pgbouncer-'))
  const owner = ownerOf(folder)
  const port = String(await freePort())
  const secret = password === '' ? '' : ` password=${decodeURIComponent(password)}`
  const configuration = `
[databases]
* = host=${hostname} port=${serverPort || '5432'} user=${decodeURIComponent(username)}${secret}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
ignore_startup_parameters = ${ignored}
`
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(file, configuration)
  const url = `postgres://${username}@127.0.0.1:${port}${pathname}`
  // The check connects without any of the parameters.
  const command = [program ?? '', '-q', file] as const
  return startOwnServer({ url, folder, command, owner, crash: 'SIGQUIT', responds: () => responds(url) })
}
