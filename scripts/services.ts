// PostgreSQL, Redis and MariaDB for the tests: set by the caller, already running, started here, or installed first.
import { execFileSync } from 'node:child_process'
import { connect } from 'node:net'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { Client } from 'pg'
import { freePort, installOnDebian, ownerFor, programPath, type Service, startProcess, temporaryFolder } from './service-process.ts'

export interface Kind {
  readonly name: string
  /** The variable that contains its address for the tests. */
  readonly variable: string
  /** The addresses at which it usually runs on a machine. */
  readonly usual: readonly string[]
  readonly debianPackage: string
  responds(url: string): Promise<boolean>
  /** Starts a separate service with empty data. Returns undefined when the program is not installed. */
  start(): Promise<Service | undefined>
}

/** Returns the service for this run, or undefined when none is available. */
export async function findService(
  kind: Kind,
  env: NodeJS.ProcessEnv = process.env,
  install = installOnDebian
): Promise<Service | undefined> {
  const given = env[kind.variable]
  if (given) return { url: given, how: `given by ${kind.variable}`, stop: async () => {} }
  for (const url of kind.usual) {
    if (await kind.responds(url)) return { url, how: 'already running', stop: async () => {} }
  }
  return (await kind.start()) ?? (install(kind.debianPackage) ? kind.start() : undefined)
}

/** A program that tests start themselves, each with its own configuration. */
export interface Program {
  readonly name: string
  /** The variable that contains its path for the tests. */
  readonly variable: string
  readonly debianPackage: string
}

/** Returns the path of the program, or undefined when it is not available. */
export function findProgram(
  { name, variable, debianPackage }: Program,
  env: NodeJS.ProcessEnv = process.env,
  install = installOnDebian
): string | undefined {
  const find = () => programPath(name, ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin', '/usr/local/bin'])
  return env[variable] || (find() ?? (install(debianPackage) ? find() : undefined))
}

export const nginx: Program = { name: 'nginx', variable: 'TEST_NGINX', debianPackage: 'nginx' }
const haproxy: Program = { name: 'haproxy', variable: 'TEST_HAPROXY', debianPackage: 'haproxy' }
const chromium: Program = { name: 'chromium', variable: 'TEST_CHROMIUM', debianPackage: 'chromium' }
const pgbouncer: Program = { name: 'pgbouncer', variable: 'TEST_PGBOUNCER', debianPackage: 'pgbouncer' }
const varnish: Program = { name: 'varnishd', variable: 'TEST_VARNISH', debianPackage: 'varnish' }

export const postgres: Kind = {
  name: 'PostgreSQL',
  variable: 'TEST_DATABASE_URL',
  usual: ['postgres:postgres', 'postgres', userInfo().username].map((login) => `postgres://${login}@127.0.0.1:5432/postgres`),
  debianPackage: 'postgresql',
  async responds(url) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 2000 })
    client.on('error', () => {})
    return client.connect().then(
      () => client.end().then(() => true),
      () => false
    )
  },
  async start() {
    const initdb = programPath('initdb', [
      '/usr/lib/postgresql/*/bin',
      '/opt/homebrew/opt/postgresql*/bin',
      '/usr/local/opt/postgresql*/bin'
    ])
    if (!initdb) return undefined
    const folder = temporaryFolder('postgres')
    const owner = ownerFor(folder)
    const port = await freePort()
    execFileSync(initdb, ['-D', folder, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'], {
      ...owner,
      cwd: folder,
      stdio: 'pipe'
    })
    const settings = ['fsync=off', 'max_connections=200'].flatMap((setting) => ['-c', setting])
    const words = ['-D', folder, '-h', '127.0.0.1', '-p', String(port), '-k', folder, ...settings]
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    return startProcess({ ...postgres, url, folder, program: join(dirname(initdb), 'postgres'), words, owner })
  }
}

export const redis: Kind = {
  name: 'Redis',
  variable: 'TEST_REDIS_URL',
  usual: ['redis://127.0.0.1:6379'],
  debianPackage: 'redis-server',
  responds(url) {
    const { hostname, port } = new URL(url)
    return new Promise((resolve) => {
      const socket = connect({ host: hostname, port: Number(port), timeout: 2000 }, () => socket.write('PING\r\n'))
      const response = (is: boolean) => resolve((socket.destroy(), is))
      socket.on('data', (data) => response(data.toString().startsWith('+PONG')))
      socket.on('error', () => response(false)).on('timeout', () => response(false))
    })
  },
  async start() {
    const program = programPath('redis-server', ['/opt/homebrew/bin', '/usr/local/bin'])
    if (!program) return undefined
    const folder = temporaryFolder('redis')
    const port = await freePort()
    const words = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no', '--dir', folder]
    return startProcess({ ...redis, url: `redis://127.0.0.1:${port}`, folder, program, words, owner: {} })
  }
}

export const mariadb: Kind = {
  name: 'MariaDB',
  variable: 'TEST_MYSQL_URL',
  usual: ['mysql://root@127.0.0.1:3306/test'],
  debianPackage: 'mariadb-server',
  responds(uri) {
    return createConnection({ uri, connectTimeout: 2000 }).then(
      (connection) => connection.end().then(() => true),
      () => false
    )
  },
  async start() {
    const folders = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin', '/usr/local/bin']
    const program = programPath('mariadbd', folders)
    const installer = programPath('mariadb-install-db', folders)
    if (!program || !installer) return undefined
    const folder = temporaryFolder('mariadb')
    const owner = ownerFor(folder)
    const port = await freePort()
    const data = ['--no-defaults', `--datadir=${folder}`, `--tmpdir=${folder}`]
    execFileSync(installer, [...data, '--auth-root-authentication-method=normal'], { ...owner, cwd: folder, stdio: 'pipe' })
    const settings = ['--innodb-flush-log-at-trx-commit=0', `--socket=${join(folder, 'socket')}`]
    const words = [...data, '--bind-address=127.0.0.1', `--port=${port}`, ...settings]
    return startProcess({ ...mariadb, url: `mysql://root@127.0.0.1:${port}/test`, folder, program, words, owner, signal: 'SIGTERM' })
  }
}

/** Finds everything that the tests need. Returns their environment and what is missing. The caller stops the services. */
export async function findServices(services: Service[]): Promise<{ readonly env: NodeJS.ProcessEnv; readonly missing: readonly string[] }> {
  const env = { ...process.env }
  const missing: string[] = []
  for (const kind of [postgres, redis, mariadb]) {
    const service = await findService(kind)
    if (service) {
      services.push(service)
      env[kind.variable] = service.url
      console.log(`${kind.name}: ${service.how}`)
    } else
      missing.push(
        `Not run: the tests on ${kind.name}. Start one and set ${kind.variable} to its address, or install ${kind.debianPackage}.`
      )
  }
  for (const program of [nginx, haproxy, varnish, pgbouncer, chromium]) {
    const path = findProgram(program)
    if (path) env[program.variable] = path
    else missing.push(`Not run: the tests with ${program.name}. Install it, or set ${program.variable} to where it is.`)
  }
  return { env, missing }
}
