import { fileURLToPath } from 'node:url'
import { describeOptions, type OptionsOf, required, value } from '@concordat/plugin-kit/options'
import { envSchema } from 'env-schema'
import type { FastifyServerOptions } from 'fastify'
import { developmentSecrets } from './development-secret.ts'
import { readEnvFile } from './env-file.ts'
import { problemsOf } from './problems.ts'
import { isReachedLocally, listeningUrl } from './reach.ts'
import { ConfigurationError, reasonOf } from './start-error.ts'
import {
  expected,
  formats,
  isExact,
  itemsOf,
  mistakesIn,
  secretVariable,
  standardVariables,
  type Values,
  type Variables,
  wrongValue
} from './variables.ts'

/** The description of {@link SettingsOptions}. @readme */
export const settingsOptions = describeOptions('service', {
  /** The folder of the service, in which `.env` is read, except for `NODE_ENV=test`, and, without `DATABASE_URL`, the folder `data` has the database. */
  folder: required(value<URL>()),
  /** The names of variables with secrets, each at least 32 random bytes; several separated by commas, the current one first. */
  secrets: value<readonly string[]>({ default: [] }),
  /** JSON schemas of further variables, by name, such as those of TypeBox. The `description` of a schema completes `It must be …`. */
  variables: value<Variables>({ default: {} }),
  /** The values of variables that only development may have, by name, such as `{ RATE_LIMIT: 'off' }`. */
  refusedInProduction: value<Readonly<Record<string, unknown>>>({ default: {} })
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
  /** The host of `PUBLIC_URL`, for the option of conventions. Empty where `isLocal`: then names of this machine are served too. */
  readonly allowedHosts: string[]
  /** `TRUST_PROXY`: the proxies that terminate TLS, as addresses or CIDR ranges, for `serverOptions({ trustProxy })`. */
  readonly trustProxy: string[]
  /** `NODE_ENV`. */
  readonly environment: 'development' | 'test' | 'production'
  /** Whether the service has the privileges of development: only this machine can reach it, and it is not in production. */
  readonly isLocal: boolean
  /** `LOG_LEVEL`, as the option `logger` of Fastify: lines for people where `pino-pretty` is installed and the output is a terminal. */
  readonly logger: FastifyServerOptions['logger'] & object
  /** `DRAIN_SECONDS`: how long a process that stops is not ready but still serves. By default 5 in production, otherwise 0. */
  readonly drainSeconds: number
  /** The secrets by the name of their variable, the current one first. In development, random ones per data folder. */
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

/**
 * Reads the settings of a service from environment variables, and from the file `.env` in its folder for those that are not set, unless
 * `NODE_ENV` is `test`. Throws an error of one
 * line that names every invalid variable, what it is and what it must be. The values of URLs with passwords and of secrets are not shown.
 */
export function readSettings<const Own extends SettingsOptions>(options: Own, environment: Environment = process.env): Settings<Own> {
  const { folder, secrets: names, variables, refusedInProduction } = settingsOptions.read(options)
  const schemas = { ...standardVariables, ...Object.fromEntries(names.map((name) => [name, secretVariable])), ...variables }
  // The file is that of a developer: with it, tests would depend on who runs them, and use its database and its Redis.
  const file: Environment = environment['NODE_ENV'] === 'test' ? {} : readEnvFile(folder)
  const values = valuesOf(folder, schemas, given(file, environment))
  // Fastify plugins, also those of this project, read it there.
  if (environment === process.env && file['NODE_ENV']) process.env['NODE_ENV'] = values.NODE_ENV
  const isLocal = values.NODE_ENV !== 'production' && isReachedLocally(values)
  const problems = problemsOf(values, names, refusedInProduction, isLocal)
  if (problems.length > 0) throw mistakesIn(problems, schemas)
  const secretOf = developmentSecrets(values.DATA_DIR)
  const secrets = names.map((name) => [name, values[name] ?? [secretOf(name)]])
  return {
    host: values.HOST,
    port: values.PORT,
    databaseUrl: values.DATABASE_URL,
    dataFolder: values.DATA_DIR,
    redisUrl: values.REDIS_URL,
    publicUrl: values.PUBLIC_URL ?? listeningUrl(values),
    allowedHosts: isLocal || values.PUBLIC_URL === undefined ? [] : [new URL(values.PUBLIC_URL).host],
    trustProxy: [...values.TRUST_PROXY],
    environment: values.NODE_ENV,
    isLocal,
    logger: { level: values.LOG_LEVEL, ...(isForPeople(values) && { transport: { target: 'pino-pretty' } }) },
    drainSeconds: values.DRAIN_SECONDS ?? (values.NODE_ENV === 'production' ? 5 : 0),
    secrets: Object.fromEntries(secrets) as never,
    variables: Object.fromEntries(Object.keys(variables).map((name) => [name, values[name]])) as never,
    async fromVariables(wrong, operation) {
      return operation.catch((error: unknown) => {
        const advice = wrong.map((name) => `Check ${name}: it must be ${expected(schemas, name)}.`).join(' ')
        throw new ConfigurationError(`${reasonOf(error).replace(/\.?$/, '.')} ${advice}`, { cause: error })
      })
    }
  }
}

// An empty variable counts as not set.
function given(file: Environment, environment: Environment) {
  const set = (variables: Environment) => Object.entries(variables).filter((entry): entry is [string, string] => Boolean(entry[1]))
  return Object.fromEntries([...set(file), ...set(environment)])
}

function valuesOf(folder: URL, schemas: Variables, texts: Readonly<Record<string, string>>): Values {
  const data = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, itemsOf(schemas[name], text)]))
  try {
    const values = envSchema<Values>({
      schema: {
        type: 'object',
        properties: { ...schemas, DATA_DIR: { ...schemas['DATA_DIR'], default: fileURLToPath(new URL('data', folder)) } }
      },
      data: structuredClone(data),
      env: false,
      ajv: { customOptions: withFormats }
    })
    const wrong = Object.entries(data).filter(([name, items]) => !isExact(values[name], items))
    if (wrong.length > 0)
      throw mistakesIn(
        wrong.map(([name]) => wrongValue(name, texts[name])),
        schemas
      )
    return values
  } catch (error) {
    // Any other error is not about a variable, for example a schema that is invalid.
    const { errors } = error as { errors?: { instancePath: string }[] }
    if (errors === undefined) throw error
    const names = errors.map(({ instancePath }) => instancePath.split('/')[1] as string)
    throw mistakesIn(
      names.map((name) => wrongValue(name, texts[name])),
      schemas
    )
  }
}

function withFormats<Validator extends { addFormat(name: string, format: (text: string) => boolean): unknown }>(validator: Validator) {
  for (const [name, format] of Object.entries(formats)) validator.addFormat(name, format)
  return validator
}

function isForPeople({ NODE_ENV }: Values) {
  if (NODE_ENV !== 'development' || !process.stdout.isTTY) return false
  try {
    import.meta.resolve('pino-pretty')
    return true
  } catch {
    return false
  }
}
