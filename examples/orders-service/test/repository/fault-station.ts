import { type Interceptor, proxyRoundTrips } from '@concordat/test-harness/round-trips'
import { httpProtocol, postgresProtocol, redisProtocol, type WireProtocol } from '@concordat/test-harness/wire-protocols'
import { type WebhookReceiver, webhookReceiver } from '@concordat/testing'
import { Redis } from 'ioredis'
import { Client } from 'pg'
import type { Test } from 'tap'
import { startChild } from './child.ts'
import { emptyDatabase } from './fresh-database.ts'

const maxStarts = 5
const forwarding: Interceptor = { request: () => 'forward', response: () => 'forward' }

/** What a client received. */
export interface Received {
  readonly status: number
  readonly retryAfterSeconds: number
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what is being tested
  readonly body: any
}

/** A process of the service. */
export interface ServiceProcess {
  /** Sends a request. Resolves to undefined when the connection ends without a response. */
  send(method: string, path: string, body?: object, headers?: Readonly<Record<string, string>>): Promise<Received | undefined>
  signal(name: NodeJS.Signals): void
  /** Kills the process, and resolves when it has ended. */
  kill(): Promise<void>
  readonly isRunning: () => boolean
  /** The errors in the log since the last call, and what the process wrote to its standard error. */
  takeErrors(): { readonly lines: readonly LogLine[]; readonly stderr: string }
}

interface LogLine {
  readonly msg?: string
  readonly err?: { readonly type: string; readonly message: string; readonly code?: string; readonly statusCode?: number }
}

/** A database, a Redis and a receiver of their own for a service, which reaches them through proxies. */
export interface Station {
  /** Decides about the round trips of the processes that `start` starts. */
  interceptor: Interceptor
  /** Connections of the test, without a proxy. */
  readonly sql: Client
  readonly redis: Redis
  readonly receiver: WebhookReceiver
  /** The URL at which the service reaches the receiver. */
  readonly receiverUrl: string
  /** Starts a process. `direct` leaves the proxies out. */
  start(connection?: 'direct'): Promise<ServiceProcess>
}

/** The servers of all stations. */
export interface Servers {
  readonly postgres: string
  readonly redis: string
}

/** Opens a station. Each has its own number, which is its database in Redis. */
export async function openStation(t: Test, servers: Servers, number: number): Promise<Station> {
  const databaseUrl = (await emptyDatabase(t, servers.postgres)).databaseUrl as string
  const countersUrl = Object.assign(new URL(servers.redis), { pathname: `/${number}` }).href
  const sql = new Client({ connectionString: databaseUrl })
  await sql.connect()
  const redis = new Redis(countersUrl)
  t.teardown(() => Promise.all([sql.end(), redis.quit()]))
  const receiver = await webhookReceiver(t)

  const station: Station = { interceptor: forwarding, sql, redis, receiver, receiverUrl: '', start }
  const current: Interceptor = {
    request: (trip) => station.interceptor.request(trip),
    response: (trip) => station.interceptor.response(trip)
  }
  async function proxied(name: string, url: string, protocol: WireProtocol, tls?: WebhookReceiver['certificate']) {
    const { hostname: host, port } = new URL(url)
    const proxy = await proxyRoundTrips(t, { name, host, port: Number(port), protocol, ...(tls && { tls }) }, current)
    return Object.assign(new URL(url), { port: String(proxy) }).href
  }
  const direct = { DATABASE_URL: databaseUrl, REDIS_URL: countersUrl }
  const behindProxies = {
    DATABASE_URL: await proxied('PostgreSQL', databaseUrl, postgresProtocol),
    REDIS_URL: await proxied('Redis', countersUrl, redisProtocol)
  }
  const receiverUrl = await proxied('receiver', receiver.url, httpProtocol, receiver.certificate)
  return Object.assign(station, { receiverUrl })

  async function start(connection?: 'direct') {
    const environment = { LOG_LEVEL: 'error', SEED_ORDERS: '250', DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS: 'true' }
    const settings = { ...environment, ...(connection === 'direct' ? direct : behindProxies) }
    // A supervisor starts a process again that cannot connect in time on a busy machine.
    for (let tries = 1; tries < maxStarts; tries += 1) {
      const started = await serviceProcess(t, settings).catch(() => undefined)
      if (started !== undefined) return started
    }
    return serviceProcess(t, settings)
  }
}

async function serviceProcess(t: Test, environment: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  const child = startChild(t, environment)
  let [out, stderr] = ['', '']
  child.process.stdout?.on('data', (bytes) => (out += bytes))
  child.process.stderr?.on('data', (bytes) => (stderr += bytes))
  const address = await child.address
  const isRunning = () => child.process.exitCode === null && child.process.signalCode === null

  return {
    isRunning,
    async send(method, path, body, headers = {}) {
      const json = body === undefined ? {} : { 'content-type': 'application/json' }
      try {
        const response = await fetch(new URL(path, address), {
          method,
          headers: { ...json, ...headers },
          ...(body !== undefined && { body: JSON.stringify(body) })
        })
        const text = await response.text()
        const retryAfterSeconds = Number(response.headers.get('retry-after') ?? 0)
        return { status: response.status, retryAfterSeconds, body: text === '' ? undefined : JSON.parse(text) }
      } catch (error) {
        if (error instanceof SyntaxError) throw error
        return undefined
      }
    },
    signal: (name) => void child.process.kill(name),
    async kill() {
      child.process.kill('SIGKILL')
      await child.ended
    },
    takeErrors() {
      const lines = out.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as LogLine] : []))
      const errors = { lines, stderr }
      ;[out, stderr] = ['', '']
      return errors
    }
  }
}
