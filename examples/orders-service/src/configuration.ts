import { accessSync, constants, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isApiError } from '@concordat/api-error'
import { serverOptions } from '@concordat/conventions'
import { weaknessOf } from '@concordat/plugin-options'
import { type Static, Type } from '@sinclair/typebox'
import { envSchema } from 'env-schema'

const example = new URL('../', import.meta.url)
const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

const Secrets = Type.Optional(Type.String())
const secretsWanted =
  'random secrets of at least 32 bytes, separated by commas, the current one first; required in production, and where HOST or TRUST_PROXY is not a loopback address; create one with: openssl rand -base64 32'

const Environment = Type.Object({
  HOST: Type.String({ default: '127.0.0.1', pattern: '^[A-Za-z0-9.:_-]+$' }),
  PORT: Type.Integer({ default: 3000, minimum: 0, maximum: 65_535 }),
  DATABASE_URL: Type.Optional(Type.String({ pattern: '^postgres(ql)?://.+' })),
  DATA_DIR: Type.String({ pattern: '^(memory://|(?!.*://).+)$', default: fileURLToPath(new URL('data', example)) }),
  REDIS_URL: Type.Optional(Type.String({ pattern: '^rediss?://.+' })),
  PUBLIC_URL: Type.Optional(Type.String({ pattern: '^https?://[^/?#@\\s]+(/[^?#@\\s]*[^/?#@\\s])?$' })),
  TRUST_PROXY: Type.String({ default: '', pattern: '^((?!gateway)[0-9A-Za-z.:/]+(, ?(?!gateway)[0-9A-Za-z.:/]+)*)?$' }),
  NODE_ENV: Type.Union([Type.Literal('development'), Type.Literal('test'), Type.Literal('production')], { default: 'development' }),
  LOG_LEVEL: Type.Union(
    levels.map((level) => Type.Literal(level)),
    { default: 'info' }
  ),
  RATE_LIMIT: Type.Union([Type.Literal('on'), Type.Literal('off')], { default: 'on' }),
  DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS: Type.Union([Type.Literal('true'), Type.Literal('false')], { default: 'false' }),
  CURSOR_SECRETS: Secrets,
  TOKEN_SECRETS: Secrets,
  REFRESH_SECRETS: Secrets,
  DRAIN_SECONDS: Type.Optional(Type.Integer({ minimum: 0, maximum: 300 })),
  SEED_ORDERS: Type.Integer({ default: 830, minimum: 0, maximum: 10_000_000 })
})

type Variable = keyof Static<typeof Environment>
type Problem = readonly [name: Variable, problem: string]

const expected: Readonly<Record<Variable, string>> = {
  HOST: 'a host name or an address to listen on, for example 127.0.0.1',
  PORT: 'an integer from 0 to 65535; 0 selects a free port',
  DATABASE_URL: 'the postgres:// URL of a database',
  DATA_DIR: 'a folder that the service can write to, or memory://',
  REDIS_URL: 'a redis:// or rediss:// URL',
  PUBLIC_URL: 'an http or https URL without a trailing slash, for example https://api.example.com; required in production',
  TRUST_PROXY: 'addresses or CIDR ranges separated by commas, for example 10.0.0.0/8',
  NODE_ENV: 'development, test or production',
  LOG_LEVEL: `one of ${levels.join(', ')}`,
  RATE_LIMIT: 'on, or off outside of production',
  DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS: 'false, or true outside of production',
  CURSOR_SECRETS: secretsWanted,
  TOKEN_SECRETS: secretsWanted,
  REFRESH_SECRETS: secretsWanted,
  DRAIN_SECONDS: 'an integer from 0 to 300',
  SEED_ORDERS: 'an integer from 0 to 10000000'
}

const urls = ['DATABASE_URL', 'REDIS_URL', 'PUBLIC_URL'] as const
const secretNames = ['CURSOR_SECRETS', 'TOKEN_SECRETS', 'REFRESH_SECRETS'] as const

// Public, and the same in every process of a development machine. Only a service that no other machine can reach may use it.
const developmentSecret = 'XfUtJVAodYTgw8dFULz4qBYgKhnzQZhAPXj+qHaMUu8='

/** The settings of the service. */
export type Configuration = ReturnType<typeof readConfiguration>

/** An error that the operator can fix. Its message is one line. */
class ConfigurationError extends Error {}

/**
 * Reads the environment, and the file `.env` in the example's folder for variables that the environment does not set. An empty variable
 * counts as not set. Throws a {@link ConfigurationError} that names every invalid variable.
 */
export function readConfiguration(environment: Readonly<Record<string, string | undefined>> = process.env) {
  const env = parse(environment)
  return {
    host: env.HOST,
    port: env.PORT,
    /** The URL of PostgreSQL. When it is undefined, the service uses PGlite in `dataDirectory`, a folder or `memory://`. */
    databaseUrl: env.DATABASE_URL,
    dataDirectory: env.DATA_DIR,
    /** The URL of a Redis in which all processes count requests together. When it is undefined, each process counts its own requests. */
    redisUrl: env.REDIS_URL,
    /** The origin of links. When it is undefined, links use the address that the request was sent to. */
    publicUrl: env.PUBLIC_URL ?? listeningUrl(env.HOST, env.PORT),
    /** The proxies that terminate TLS, as addresses or CIDR ranges. In production, requests that arrive in another way are refused. */
    trustProxy: proxiesOf(env),
    environment: env.NODE_ENV,
    /** Whether the demo users exist, whose password is public: only in development, and where only this machine can reach the service. */
    demoUsers: env.NODE_ENV !== 'production' && isLocal(env),
    logLevel: env.LOG_LEVEL,
    /** The secrets that sign cursors: the current secret first, then former secrets, whose cursors clients may still have. */
    cursorSecrets: secretsOf(env.CURSOR_SECRETS),
    /** The secrets that sign access tokens, and those from which refresh tokens are derived, in the same order. */
    tokenSecrets: secretsOf(env.TOKEN_SECRETS),
    refreshSecrets: secretsOf(env.REFRESH_SECRETS),
    /** Whether requests are counted and refused above the limits. */
    rateLimit: env.RATE_LIMIT,
    /** Whether webhooks may be sent to https receivers on this machine, with any certificate. */
    localWebhooks: env.DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS === 'true',
    /** How long a process that stops is not ready but still serves, so that load balancers can notice it. */
    drainSeconds: env.DRAIN_SECONDS ?? (env.NODE_ENV === 'production' ? 5 : 0),
    seedOrders: env.SEED_ORDERS
  }
}

/** Rejects with an error that names the variables, if an operation fails that depends on them. */
export async function fromVariables<Result>(names: readonly Variable[], operation: Promise<Result>): Promise<Result> {
  return operation.catch((error: unknown) => {
    const advice = names.map((name) => `Check ${name}: it must be ${expected[name]}.`).join(' ')
    throw new ConfigurationError(`${reasonOf(error).replace(/\.?$/, '.')} ${advice}`, { cause: error })
  })
}

/** Returns what the operator must know of an error, in one line. The message of an ApiError is for clients, so its cause is shown. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return isApiError(error) && error.cause !== undefined ? reasonOf(error.cause) : error.message.replaceAll('\n', ' ')
}

// Whether only this machine can reach the service. Behind a proxy on another machine, everyone can.
function isLocal(env: Static<typeof Environment>) {
  return (env.HOST === 'localhost' || isLoopback(env.HOST)) && proxiesOf(env).every((range) => range === 'loopback' || isLoopback(range))
}

// A shorter prefix than that of 127.0.0.0/8 includes other machines.
function isLoopback(range: string) {
  const [address = '', size] = range.split('/')
  if (isIP(address) === 4) return address.startsWith('127.') && Number(size ?? 32) >= 8
  return address === '::1' && Number(size ?? 128) === 128
}

function proxiesOf(env: Static<typeof Environment>) {
  return env.TRUST_PROXY.split(/, ?/).filter((range) => range !== '')
}

function secretsOf(text: string | undefined) {
  return text?.split(',') ?? [developmentSecret]
}

function parse(environment: Readonly<Record<string, string | undefined>>) {
  const env = read(environment)
  const inProduction = env.NODE_ENV === 'production'
  const isPublic = inProduction || !isLocal(env)
  const problems: readonly (Problem | undefined)[] = [
    ...urls.map((name): Problem | undefined =>
      env[name] === undefined || URL.canParse(env[name]) ? undefined : [name, shown(name, env[name])]
    ),
    env.DATABASE_URL !== undefined || isWritable(env.DATA_DIR) ? undefined : ['DATA_DIR', shown('DATA_DIR', env.DATA_DIR)],
    proxyProblem(proxiesOf(env)),
    inProduction && env.PUBLIC_URL === undefined ? ['PUBLIC_URL', 'is missing'] : undefined,
    ...secretNames.map((name) => secretProblem(name, env[name], isPublic)),
    inProduction && env.RATE_LIMIT === 'off' ? ['RATE_LIMIT', 'is "off" in production'] : undefined,
    inProduction && env.DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS === 'true'
      ? ['DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS', 'is "true" in production']
      : undefined
  ]
  const found = problems.filter((problem) => problem !== undefined)
  if (found.length > 0) throw mistakesIn(found)
  return env
}

function secretProblem(name: Variable, text: string | undefined, isPublic: boolean): Problem | undefined {
  if (text === undefined) return isPublic ? [name, 'is missing'] : undefined
  if (isPublic && text.includes(developmentSecret)) return [name, 'has the secret of development, which is public']
  const weakness = text
    .split(',')
    .map((secret) => weaknessOf(secret))
    .find((found) => found !== undefined)
  return weakness === undefined ? undefined : [name, `has a secret that ${weakness}`]
}

// The options of the packages are checked again when the service starts, but their messages do not name the variable.
function proxyProblem(trustProxy: readonly string[]): Problem | undefined {
  try {
    serverOptions({ trustProxy: [...trustProxy] })
    return undefined
  } catch (error) {
    return ['TRUST_PROXY', (error as Error).message.replace(/^.*?options\.trustProxy (.*?)\. .*$/, '$1')]
  }
}

// A folder that does not exist is created in the nearest one that does.
function isWritable(folder: string): boolean {
  if (folder === 'memory://') return true
  try {
    accessSync(folder, constants.W_OK)
    return statSync(folder).isDirectory()
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' && isWritable(dirname(resolve(folder)))
  }
}

function read(environment: Readonly<Record<string, string | undefined>>) {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''))
  try {
    return envSchema<Static<typeof Environment>>({
      schema: Environment,
      data: given,
      env: false,
      dotenv: { path: fileURLToPath(new URL('.env', example)) },
      // The errors contain the values.
      ajv: { customOptions: (ajv) => Object.assign(ajv, { opts: { ...ajv.opts, verbose: true } }) }
    })
  } catch (error) {
    // Any other error is not about a variable, for example a .env that cannot be read.
    const { errors } = error as { errors?: { instancePath: string; data?: unknown }[] }
    if (errors === undefined) throw error
    throw mistakesIn(errors.map(({ instancePath, data }) => [nameIn(instancePath), shown(nameIn(instancePath), data)]))
  }
}

function nameIn(instancePath: string) {
  return instancePath.slice(1) as Variable
}

// The URLs of databases contain passwords, and a public URL can contain one by mistake.
function shown(name: Variable, value: unknown) {
  const text = String(value)
  const isSecret = name === 'DATABASE_URL' || name === 'REDIS_URL' || text.includes('@')
  return isSecret ? 'is invalid' : `is ${JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)}`
}

function mistakesIn(problems: readonly Problem[]) {
  const unique = new Map(problems.map(([name, problem]) => [name, `${name} ${problem}. It must be ${expected[name]}.`]))
  return new ConfigurationError([...unique.values()].join(' '))
}

// A client cannot use a wildcard address, or a port that is not known yet.
function listeningUrl(host: string, port: number) {
  if (port === 0 || ['0.0.0.0', '::'].includes(host)) return undefined
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
