import { fileURLToPath } from 'node:url'
import { type Static, Type } from '@sinclair/typebox'
import { envSchema } from 'env-schema'

const example = new URL('../', import.meta.url)
const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

const Secrets = Type.Optional(Type.String({ pattern: '^[^,]{32,}(,[^,]{32,})*$' }))
const secretsWanted =
  'secrets of at least 32 characters each, separated by commas, the current one first; required in production, and where HOST or TRUST_PROXY is not a loopback address'

const Environment = Type.Object({
  HOST: Type.String({ default: '127.0.0.1', pattern: '^[A-Za-z0-9.:_-]+$' }),
  PORT: Type.Integer({ default: 3000, minimum: 0, maximum: 65_535 }),
  DATABASE_URL: Type.Optional(Type.String({ pattern: '^postgres(ql)?://.+' })),
  DATA_DIR: Type.String({ pattern: '^(memory://|(?!.*://).+)$', default: fileURLToPath(new URL('data', example)) }),
  REDIS_URL: Type.Optional(Type.String({ pattern: '^rediss?://.+' })),
  PUBLIC_URL: Type.Optional(Type.String({ pattern: '^https?://[^/?#@\\s]+(/[^?#@\\s]*[^/?#@\\s])?$' })),
  TRUST_PROXY: Type.String({ default: '', pattern: '^([0-9A-Za-z.:/]+(, ?[0-9A-Za-z.:/]+)*)?$' }),
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

const expected: Readonly<Record<keyof Static<typeof Environment>, string>> = {
  HOST: 'a host name or an address to listen on, for example 127.0.0.1',
  PORT: 'an integer from 0 to 65535; 0 selects a free port',
  DATABASE_URL: 'a postgres:// URL',
  DATA_DIR: 'a folder, or memory://',
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
const loopback = /^(?:localhost|loopback|::1|127(?:\.\d{1,3}){3})(?:\/\d{1,3})?$/i

// Public, and the same in every process of a development machine. Only a service that no other machine can reach may use it.
const developmentSecret = 'N0-s3cret, for development & tests alone: 7vQx1Zp4'

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

// Whether only this machine can reach the service. Behind a proxy on another machine, everyone can.
function isLocal(env: Static<typeof Environment>) {
  return loopback.test(env.HOST) && proxiesOf(env).every((range) => loopback.test(range))
}

function proxiesOf(env: Static<typeof Environment>) {
  return env.TRUST_PROXY.split(/, ?/).filter((range) => range !== '')
}

function secretsOf(text: string | undefined) {
  return text?.split(',') ?? [developmentSecret]
}

function parse(environment: Readonly<Record<string, string | undefined>>) {
  const env = read(environment)
  const malformed = urls.filter((name) => env[name] !== undefined && !URL.canParse(env[name]))
  if (malformed.length > 0) throw mistakesIn(malformed)
  const inProduction = env.NODE_ENV === 'production'
  const wrong = [
    ...(inProduction && env.PUBLIC_URL === undefined ? ['PUBLIC_URL' as const] : []),
    ...(isLocal(env) && !inProduction ? [] : secretNames.filter((name) => (env[name] ?? developmentSecret).includes(developmentSecret))),
    ...(inProduction && env.RATE_LIMIT === 'off' ? ['RATE_LIMIT' as const] : []),
    ...(inProduction && env.DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS === 'true' ? ['DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS' as const] : [])
  ]
  if (wrong.length > 0) throw mistakesIn(wrong)
  return env
}

function read(environment: Readonly<Record<string, string | undefined>>) {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''))
  try {
    return envSchema<Static<typeof Environment>>({
      schema: Environment,
      data: given,
      env: false,
      dotenv: { path: fileURLToPath(new URL('.env', example)) }
    })
  } catch (error) {
    // Any other error is not about a variable, for example a .env that cannot be read.
    const { errors } = error as { errors?: { instancePath: string }[] }
    if (errors === undefined) throw error
    throw mistakesIn(errors.map(({ instancePath }) => instancePath.slice(1) as keyof typeof expected))
  }
}

function mistakesIn(names: readonly (keyof typeof expected)[]) {
  return new ConfigurationError([...new Set(names)].map((name) => `${name} must be ${expected[name]}.`).join(' '))
}

// A client cannot use a wildcard address, or a port that is not known yet.
function listeningUrl(host: string, port: number) {
  if (port === 0 || ['0.0.0.0', '::'].includes(host)) return undefined
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
