import { fileURLToPath } from 'node:url'
import { type Static, Type } from '@sinclair/typebox'
import { envSchema } from 'env-schema'

const example = new URL('../', import.meta.url)
const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

const Secrets = Type.Optional(Type.String({ pattern: '^[^,]{32,}(,[^,]{32,})*$' }))
const secretsWanted = 'texts of at least 32 characters, the current one first, with commas between; needed in production'

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
  SEED_ORDERS: Type.Integer({ default: 830, minimum: 0, maximum: 10_000_000 })
})

const expected: Readonly<Record<keyof Static<typeof Environment>, string>> = {
  HOST: 'a host name or an address to listen on, as 127.0.0.1',
  PORT: 'a whole number from 0 to 65535; 0 takes a free port',
  DATABASE_URL: 'a postgres:// URL',
  DATA_DIR: 'a folder, or memory://',
  REDIS_URL: 'a redis:// or rediss:// URL',
  PUBLIC_URL: 'an http or https URL without a trailing slash, as https://api.example.com',
  TRUST_PROXY: 'addresses or CIDR ranges with commas between them, as 10.0.0.0/8',
  NODE_ENV: 'development, test or production',
  LOG_LEVEL: `one of ${levels.join(', ')}`,
  RATE_LIMIT: 'on, or off where it is not production',
  DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS: 'false, or true where it is not production',
  CURSOR_SECRETS: secretsWanted,
  TOKEN_SECRETS: secretsWanted,
  REFRESH_SECRETS: secretsWanted,
  SEED_ORDERS: 'a whole number from 0 to 10000000'
}

const urls = ['DATABASE_URL', 'REDIS_URL', 'PUBLIC_URL'] as const
const secrets = ['CURSOR_SECRETS', 'TOKEN_SECRETS', 'REFRESH_SECRETS'] as const

// Known to everybody, and the same in every process of a development machine.
const developmentSecret = 'N0-s3cret, for development & tests alone: 7vQx1Zp4'

/** Everything that can be set from outside. */
export interface Configuration {
  readonly host: string
  readonly port: number
  /** Absent: PGlite in `dataDirectory`. */
  readonly databaseUrl?: string | undefined
  /** A folder, or `memory://`. */
  readonly dataDirectory: string
  /** Where all processes together count requests. Absent: each counts for itself. */
  readonly redisUrl?: string | undefined
  /** The origin of links. Absent: the address that a request came in on. */
  readonly publicUrl?: string | undefined
  /** The proxies that end TLS, as addresses or CIDR ranges. In production, whoever comes another way is refused. */
  readonly trustProxy?: readonly string[] | undefined
  readonly environment: 'development' | 'test' | 'production'
  readonly logLevel: (typeof levels)[number]
  /** What cursors are signed with: the current secret first, then former ones that clients may still hold cursors of. */
  readonly cursorSecrets: readonly string[]
  /** What access tokens are signed with, and what refresh tokens are made with; likewise. */
  readonly tokenSecrets: readonly string[]
  readonly refreshSecrets: readonly string[]
  /** Whether requests are counted, and refused when there are too many. */
  readonly rateLimit: 'on' | 'off'
  /** Whether webhooks may be sent to https receivers on this machine, whatever their certificate. */
  readonly localWebhooks: boolean
  readonly seedOrders: number
}

/** A mistake that the operator can mend; its message is one line. */
class ConfigurationError extends Error {}

/**
 * Reads the environment, and `.env` in the example's folder for what the environment does not set. An empty variable counts as
 * not set. Throws a {@link ConfigurationError} that names every bad variable.
 */
export function readConfiguration(environment: Readonly<Record<string, string | undefined>> = process.env): Configuration {
  const env = parse(environment)
  return {
    host: env.HOST,
    port: env.PORT,
    databaseUrl: env.DATABASE_URL,
    dataDirectory: env.DATA_DIR,
    redisUrl: env.REDIS_URL,
    publicUrl: env.PUBLIC_URL ?? listeningUrl(env.HOST, env.PORT),
    trustProxy: env.TRUST_PROXY.split(/, ?/).filter((range) => range !== ''),
    environment: env.NODE_ENV,
    logLevel: env.LOG_LEVEL,
    cursorSecrets: secretsOf(env.CURSOR_SECRETS),
    tokenSecrets: secretsOf(env.TOKEN_SECRETS),
    refreshSecrets: secretsOf(env.REFRESH_SECRETS),
    rateLimit: env.RATE_LIMIT,
    localWebhooks: env.DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS === 'true',
    seedOrders: env.SEED_ORDERS
  }
}

function secretsOf(text: string | undefined) {
  return text?.split(',') ?? [developmentSecret]
}

function parse(environment: Readonly<Record<string, string | undefined>>) {
  const env = read(environment)
  const malformed = urls.filter((name) => env[name] !== undefined && !URL.canParse(env[name]))
  if (malformed.length > 0) throw mistakesIn(malformed)
  if (env.NODE_ENV === 'production') {
    const wrong = [
      ...secrets.filter((name) => env[name] === undefined),
      ...(env.RATE_LIMIT === 'off' ? ['RATE_LIMIT' as const] : []),
      ...(env.DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS === 'true' ? ['DANGEROUSLY_ALLOW_LOCAL_WEBHOOKS' as const] : [])
    ]
    if (wrong.length > 0) throw mistakesIn(wrong)
  }
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
    // Anything else is not about a variable: a .env that can't be read.
    const { errors } = error as { errors?: { instancePath: string }[] }
    if (errors === undefined) throw error
    throw mistakesIn(errors.map(({ instancePath }) => instancePath.slice(1) as keyof typeof expected))
  }
}

function mistakesIn(names: readonly (keyof typeof expected)[]) {
  return new ConfigurationError([...new Set(names)].map((name) => `${name} must be ${expected[name]}.`).join(' '))
}

// Neither a wildcard address nor a port that is still to be chosen tells a client where to go.
function listeningUrl(host: string, port: number) {
  if (port === 0 || ['0.0.0.0', '::'].includes(host)) return undefined
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
