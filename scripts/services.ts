// PostgreSQL, Redis and MariaDB for the tests: set by the caller, already running, started here, or installed first.
import { execFileSync } from 'node:child_process'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@concordat/test-harness/fleet'
import { ownerOf, ownPostgres, responds as postgresResponds } from '@concordat/test-harness/own-postgres'
import { ownRedis, responds as redisResponds } from '@concordat/test-harness/own-redis'
import { type OwnServer, programPath, startOwnServer } from '@concordat/test-harness/own-server'
import { createConnection } from 'mysql2/promise'
import { installOnDebian, type Service, temporaryFolder } from './service-process.ts'

export interface Kind {
  readonly name: string
  /** The variable that contains its address for the tests. */
  readonly variable: string
  /** The addresses at which it usually runs on a machine. */
  readonly usual: readonly string[]
  readonly debianPackage: string
  responds(url: string): Promise<boolean>
  /** Starts a separate service with empty data. Returns undefined when the program is not installed. */
  start(): Promise<OwnServer | undefined>
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
  const own = (await kind.start()) ?? (install(kind.debianPackage) ? await kind.start() : undefined)
  return own && { url: own.url, how: 'started for this run', stop: () => own.stop() }
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
  return env[variable] || (programPath(name) ?? (install(debianPackage) ? programPath(name) : undefined))
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
  responds: postgresResponds,
  start: () => ownPostgres('fsync=off', 'max_connections=200')
}

export const redis: Kind = {
  name: 'Redis',
  variable: 'TEST_REDIS_URL',
  usual: ['redis://127.0.0.1:6379'],
  debianPackage: 'redis-server',
  responds: redisResponds,
  start: () => ownRedis(['--appendonly', 'no'])
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
    const program = programPath('mariadbd')
    const installer = programPath('mariadb-install-db')
    if (!program || !installer) return undefined
    const folder = temporaryFolder('mariadb')
    const owner = ownerOf(folder)
    const port = await freePort()
    const data = ['--no-defaults', `--datadir=${folder}`, `--tmpdir=${folder}`]
    execFileSync(installer, [...data, '--auth-root-authentication-method=normal'], { ...owner, cwd: folder, stdio: 'pipe' })
    const settings = ['--innodb-flush-log-at-trx-commit=0', `--socket=${join(folder, 'socket')}`]
    const command = [program, ...data, '--bind-address=127.0.0.1', `--port=${port}`, ...settings] as const
    const url = `mysql://root@127.0.0.1:${port}/test`
    return startOwnServer({ url, folder, command, owner, crash: 'SIGTERM', responds: () => mariadb.responds(url) })
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
