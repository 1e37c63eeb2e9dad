import { ConfigurationError } from './start-error.ts'

/** A JSON schema of a variable. Its `description` completes the message: `It must be …`. */
export type VariableSchema = Readonly<Record<string, unknown>> & { readonly description?: string | undefined }

/** JSON schemas of variables, by name. */
export type Variables = Readonly<Record<string, VariableSchema>>

/** A variable, and what is wrong with it. */
export type Problem = readonly [name: string, problem: string]

/** The values of the variables that every service has, and of its own. */
export interface Values {
  readonly HOST: string
  readonly PORT: number
  readonly DATABASE_URL?: string
  readonly DATA_DIR: string
  readonly REDIS_URL?: string
  readonly PUBLIC_URL?: string
  readonly TRUST_PROXY: string
  readonly NODE_ENV: 'development' | 'test' | 'production'
  readonly LOG_LEVEL: string
  readonly DRAIN_SECONDS?: number
  readonly [name: string]: unknown
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** The variables that every service has. */
export const standardVariables: Variables = {
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
  TRUST_PROXY: text('addresses or CIDR ranges separated by commas, for example 10.0.0.0/8; or gateway, for AWS Lambda', {
    default: '',
    pattern: '^(gateway|(?!gateway)[0-9A-Za-z.:/]+(, ?(?!gateway)[0-9A-Za-z.:/]+)*)?$'
  }),
  NODE_ENV: text('development, test or production', { default: 'development', enum: ['development', 'test', 'production'] }),
  LOG_LEVEL: text(`one of ${levels.join(', ')}`, { default: 'info', enum: levels }),
  DRAIN_SECONDS: { type: 'integer', minimum: 0, maximum: 300, description: 'an integer from 0 to 300' }
}

/** The variables of `standardVariables` that are URLs. */
export const urlVariables: readonly string[] = ['DATABASE_URL', 'REDIS_URL', 'PUBLIC_URL']

/** The variable of a secret, or of several. */
export const secretVariable: VariableSchema = text(
  'random secrets of at least 32 bytes, separated by commas, the current one first; required in production, and where HOST or TRUST_PROXY is not a loopback address; create one with: openssl rand -base64 32'
)

/** Returns what is wrong with a value: the value, unless it may contain a password. */
export function wrongValue(name: string, given: unknown): Problem {
  const written = String(given)
  // The URLs of databases contain passwords, and a public URL can contain one by mistake.
  const isSecret = name === 'DATABASE_URL' || name === 'REDIS_URL' || written.includes('@')
  return [name, isSecret ? 'is invalid' : `is ${JSON.stringify(written.length > 100 ? `${written.slice(0, 100)}…` : written)}`]
}

/** Returns an error with all problems, each variable once. */
export function mistakesIn(problems: readonly Problem[], schemas: Variables): ConfigurationError {
  const unique = new Map(problems.map(([name, problem]) => [name, `${name} ${problem}. It must be ${expected(schemas, name)}.`]))
  return new ConfigurationError([...unique.values()].join(' '))
}

/** Returns what the value of a variable must be. */
export function expected(schemas: Variables, name: string): string {
  return schemas[name]?.description ?? 'valid'
}

function text(description: string, more: object = {}): VariableSchema {
  return { type: 'string', description, ...more }
}
