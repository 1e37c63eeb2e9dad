import { accessSync, constants, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isIP } from 'node:net'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeOptions, type OptionsOf, required, value, weaknessOf } from '@concordat/plugin-options'
import { transportSecurityServerOptions } from '@concordat/transport-security'
import { envSchema } from 'env-schema'
import type { FastifyServerOptions } from 'fastify'
import { ConfigurationError, reasonOf } from './start-error.ts'

/** A JSON schema of a variable. Its `description` completes the message: `It must be …`. */
type VariableSchema = Readonly<Record<string, unknown>> & { readonly description?: string | undefined }

/** The description of {@link SettingsOptions}. @readme */
export const settingsOptions = describeOptions('service', {
  /** The folder of the service, in which `.env` is read and, without `DATABASE_URL`, the folder `data` has the database. */
  folder: required(value<URL>()),
  /** The names of variables with secrets, each at least 32 random bytes; several separated by commas, the current one first. */
  secrets: value<readonly string[]>({ default: [] }),
  /** JSON schemas of further variables, by name, such as those of TypeBox. The `description` of a schema completes `It must be …`. */
  variables: value<Readonly<Record<string, VariableSchema>>>({ default: {} })
})

/** Options of {@link readSettings}. */
export interface SettingsOptions extends OptionsOf<typeof settingsOptions> {}

/** Environment variables by name. An empty variable counts as not set. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The settings of a service. */
export interface Settings<Own extends SettingsOptions = SettingsOptions> {
  /** `HOST` and `PORT`: where the service listens. */
  readonly host: string
  readonly port: number
  /** `DATABASE_URL`: the URL of PostgreSQL. Without it, the service uses PGlite in `dataFolder`. */
  readonly databaseUrl: string | undefined
  /** `DATA_DIR`: a folder, or `memory://`. */
  readonly dataFolder: string
  /** `REDIS_URL`: the URL of a Redis that all processes share. */
  readonly redisUrl: string | undefined
  /** `PUBLIC_URL`: the origin of links. In development, by default the address that the service listens on, if it is known. */
  readonly publicUrl: string | undefined
  /** `TRUST_PROXY`: the proxies that terminate TLS, as addresses or CIDR ranges, for `serverOptions({ trustProxy })`. */
  readonly trustProxy: string[]
  /** `NODE_ENV`. */
  readonly environment: 'development' | 'test' | 'production'
  /** Whether only this machine can reach the service, and it is not in production. */
  readonly isLocal: boolean
  /** `LOG_LEVEL`, as the option `logger` of Fastify: lines for people where `pino-pretty` is installed and the output is a terminal. */
  readonly logger: FastifyServerOptions['logger'] & object
  /** `DRAIN_SECONDS`: how long a process that stops is not ready but still serves. By default 5 in production, otherwise 0. */
  readonly drainSeconds: number
  /** The secrets by the name of their variable, the current one first. In development, a secret that is public. */
  readonly secrets: Readonly<Record<NonNullable<Own['secrets']>[number], readonly string[]>>
  /** The further variables, by name. */
  readonly variables: {
    readonly [Name in keyof NonNullable<Own['variables']>]: NonNullable<Own['variables']>[Name] extends { readonly static: infer Value }
      ? Value
      : unknown
  }
  /** Rejects with an error that names the variables and what they must be, if an operation that depends on them fails. */
  readonly fromVariables: <Result>(names: readonly string[], operation: Promise<Result>) => Promise<Result>
}

type Problem = readonly [name: string, problem: string]

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']
const text = (description: string, more: object = {}): VariableSchema => ({ type: 'string', description, ...more })

const standard: Readonly<Record<string, VariableSchema>> = {
  HOST: text('a host name or an address to listen on, for example 127.0.0.1', { default: '127.0.0.1', pattern: '^[A-Za-z0-9.:_-]+$' }),
  PORT: {
    type: 'integer',
    default: 3000,
    minimum: 0,
    maximum: 65_535,
    description: 'an integer from 0 to 65535; 0 selects a free port'
  },
  DATABASE_URL: text('the postgres:// URL of a database', { pattern: '^postgres(ql)?://.+' }),
  DATA_DIR: text('a folder that the service can write to, or memory://', { pattern: '^(memory://|(?!.*://).+)$' }),
  REDIS_URL: text('a redis:// or rediss:// URL', { pattern: '^rediss?://.+' }),
  PUBLIC_URL: text('an http or https URL without a trailing slash, for example https://api.example.com; required in production', {
    pattern: '^https?://[^/?#@\\s]+(/[^?#@\\s]*[^/?#@\\s])?$'
  }),
  TRUST_PROXY: text('addresses or CIDR ranges separated by commas, for example 10.0.0.0/8', {
    default: '',
    pattern: '^((?!gateway)[0-9A-Za-z.:/]+(, ?(?!gateway)[0-9A-Za-z.:/]+)*)?$'
  }),
  NODE_ENV: text('development, test or production', { default: 'development', enum: ['development', 'test', 'production'] }),
  LOG_LEVEL: text(`one of ${levels.join(', ')}`, { default: 'info', enum: levels }),
  DRAIN_SECONDS: { type: 'integer', minimum: 0, maximum: 300, description: 'an integer from 0 to 300' }
}

const secret = text(
  'random secrets of at least 32 bytes, separated by commas, the current one first; required in production, and where HOST or TRUST_PROXY is not a loopback address; create one with: openssl rand -base64 32'
)

// Public, and the same in every process of a development machine. Only a service that no other machine can reach may use it.
const developmentSecret = 'XfUtJVAodYTgw8dFULz4qBYgKhnzQZhAPXj+qHaMUu8='
const urls = ['DATABASE_URL', 'REDIS_URL', 'PUBLIC_URL']

/** The values of the variables that every service has. */
interface Values {
  readonly HOST: string
  readonly PORT: number
  readonly DATABASE_URL?: string
  readonly DATA_DIR: string
  readonly REDIS_URL?: string
  readonly PUBLIC_URL?: string
  readonly TRUST_PROXY: string
  readonly NODE_ENV: Settings['environment']
  readonly LOG_LEVEL: string
  readonly DRAIN_SECONDS?: number
  readonly [name: string]: unknown
}

/**
 * Reads the settings of a service from environment variables, and from the file `.env` in its folder for those that are not set. Throws an error of one
 * line that names every invalid variable, what it is and what it must be. The values of URLs with passwords and of secrets are not shown.
 */
export function readSettings<const Own extends SettingsOptions>(options: Own, environment: Environment = process.env): Settings<Own> {
  const { folder, secrets: names, variables } = settingsOptions.read(options)
  const schemas = { ...standard, ...Object.fromEntries(names.map((name) => [name, secret])), ...variables }
  const values = valuesOf(folder, schemas, environment)
  const isLocal = values.NODE_ENV !== 'production' && isReachedLocally(values)
  const problems = problemsOf(values, names, isLocal)
  if (problems.length > 0) throw mistakesIn(problems, schemas)
  return {
    host: values.HOST,
    port: values.PORT,
    databaseUrl: values.DATABASE_URL,
    dataFolder: values.DATA_DIR,
    redisUrl: values.REDIS_URL,
    publicUrl: values.PUBLIC_URL ?? listeningUrl(values),
    trustProxy: proxiesOf(values),
    environment: values.NODE_ENV,
    isLocal,
    logger: { level: values.LOG_LEVEL, ...(isForPeople(values) && { transport: { target: 'pino-pretty' } }) },
    drainSeconds: values.DRAIN_SECONDS ?? (values.NODE_ENV === 'production' ? 5 : 0),
    secrets: Object.fromEntries(
      names.map((name) => [name, (values[name] as string | undefined)?.split(',') ?? [developmentSecret]])
    ) as never,
    variables: Object.fromEntries(Object.keys(variables).map((name) => [name, values[name]])) as never,
    fromVariables: async (wrong, operation) => operation.catch((error: unknown) => refuse(error, wrong, schemas))
  }
}

function refuse(error: unknown, names: readonly string[], schemas: Readonly<Record<string, VariableSchema>>): never {
  const advice = names.map((name) => `Check ${name}: it must be ${expected(schemas, name)}.`).join(' ')
  throw new ConfigurationError(`${reasonOf(error).replace(/\.?$/, '.')} ${advice}`, { cause: error })
}

function expected(schemas: Readonly<Record<string, VariableSchema>>, name: string) {
  return schemas[name]?.description ?? 'valid'
}

function valuesOf(folder: URL, schemas: Readonly<Record<string, VariableSchema>>, environment: Environment): Values {
  const data = Object.fromEntries(Object.entries(environment).filter(([, given]) => given !== undefined && given !== ''))
  try {
    return envSchema<Values>({
      schema: {
        type: 'object',
        properties: { ...schemas, DATA_DIR: { ...schemas['DATA_DIR'], default: fileURLToPath(new URL('data', folder)) } }
      },
      data,
      env: false,
      dotenv: { path: fileURLToPath(new URL('.env', folder)) },
      // The errors contain the values.
      ajv: { customOptions: (ajv) => Object.assign(ajv, { opts: { ...ajv.opts, verbose: true } }) }
    })
  } catch (error) {
    // Any other error is not about a variable, for example a .env that cannot be read.
    const { errors } = error as { errors?: { instancePath: string; data?: unknown }[] }
    if (errors === undefined) throw error
    const problems = errors.map(({ instancePath, data: wrong }): Problem => [instancePath.slice(1), shown(instancePath.slice(1), wrong)])
    throw mistakesIn(problems, schemas)
  }
}

function problemsOf(values: Values, secrets: readonly string[], isLocal: boolean): readonly Problem[] {
  const isProduction = values.NODE_ENV === 'production'
  const found: readonly (Problem | undefined)[] = [
    ...urls.map((name): Problem | undefined => {
      const url = values[name]
      return url === undefined || URL.canParse(url as string) ? undefined : [name, shown(name, url)]
    }),
    values.DATABASE_URL !== undefined || isWritable(values.DATA_DIR) ? undefined : ['DATA_DIR', shown('DATA_DIR', values.DATA_DIR)],
    proxyProblem(values),
    isProduction && values.PUBLIC_URL === undefined ? ['PUBLIC_URL', 'is missing'] : undefined,
    ...secrets.map((name) => secretProblem(name, values[name] as string | undefined, isLocal))
  ]
  return found.filter((problem) => problem !== undefined)
}

function secretProblem(name: string, given: string | undefined, isLocal: boolean): Problem | undefined {
  if (given === undefined) return isLocal ? undefined : [name, 'is missing']
  if (!isLocal && given.includes(developmentSecret)) return [name, 'has the secret of development, which is public']
  const weakness = given
    .split(',')
    .map((one) => weaknessOf(one))
    .find((weak) => weak !== undefined)
  return weakness === undefined ? undefined : [name, `has a secret that ${weakness}`]
}

// The option is checked again when the service starts, but that message does not name the variable.
function proxyProblem(values: Values): Problem | undefined {
  try {
    transportSecurityServerOptions({ trustProxy: proxiesOf(values) })
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

// Behind a proxy on another machine, everyone can reach the service.
function isReachedLocally(values: Values) {
  return (
    (values.HOST === 'localhost' || isLoopback(values.HOST)) &&
    proxiesOf(values).every((range) => range === 'loopback' || isLoopback(range))
  )
}

// A shorter prefix than that of 127.0.0.0/8 includes other machines.
function isLoopback(range: string) {
  const [address = '', size] = range.split('/')
  if (isIP(address) === 4) return address.startsWith('127.') && Number(size ?? 32) >= 8
  return address === '::1' && Number(size ?? 128) === 128
}

function proxiesOf({ TRUST_PROXY }: Values) {
  return TRUST_PROXY.split(/, ?/).filter((range) => range !== '')
}

// A client cannot use a wildcard address, or a port that is not known yet.
function listeningUrl({ HOST, PORT }: Values) {
  if (PORT === 0 || ['0.0.0.0', '::'].includes(HOST)) return undefined
  return `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`
}

function isForPeople({ NODE_ENV }: Values) {
  if (NODE_ENV !== 'development' || !process.stdout.isTTY) return false
  try {
    createRequire(import.meta.url).resolve('pino-pretty')
    return true
  } catch {
    return false
  }
}

// The URLs of databases contain passwords, and a public URL can contain one by mistake.
function shown(name: string, given: unknown) {
  const written = String(given)
  const isSecret = name === 'DATABASE_URL' || name === 'REDIS_URL' || written.includes('@')
  return isSecret ? 'is invalid' : `is ${JSON.stringify(written.length > 100 ? `${written.slice(0, 100)}…` : written)}`
}

function mistakesIn(problems: readonly Problem[], schemas: Readonly<Record<string, VariableSchema>>) {
  const unique = new Map(problems.map(([name, problem]) => [name, `${name} ${problem}. It must be ${expected(schemas, name)}.`]))
  return new ConfigurationError([...unique.values()].join(' '))
}
