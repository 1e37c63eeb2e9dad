import { isIP, isIPv6 } from 'node:net'
import { ConfigurationError } from './start-error.ts'

/**
 * A JSON schema of a variable. Its `description` completes the message: `It must be …`. The text of a variable with `type: 'array'` is split at commas, and
 * spaces around its items are removed.
 */
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
  readonly TRUST_PROXY: readonly string[]
  readonly NODE_ENV: 'development' | 'test' | 'production'
  readonly LOG_LEVEL: string
  readonly DRAIN_SECONDS?: number
  readonly [name: string]: unknown
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** The variables that every service has. */
export const standardVariables: Variables = {
  HOST: text('a host name or an address to listen on, for example 127.0.0.1', { default: '127.0.0.1', format: 'listening-host' }),
  PORT: {
    type: 'integer',
    default: 3000,
    minimum: 0,
    maximum: 65_535,
    description: 'an integer from 0 to 65535; 0 selects a free port'
  },
  DATABASE_URL: text('the postgres:// URL of a database', { pattern: '^postgres(ql)?://\\S+$' }),
  // A shell would replace ~, $ and %, and remove quotes; other programs call a database in memory :memory:.
  DATA_DIR: text('a folder that the service can write to, or memory://', {
    pattern: '^(memory://|(?![\\s~$%"\'`]|:?memory:|.*://).*[^\\s"\'`])$'
  }),
  REDIS_URL: text('a redis:// or rediss:// URL', { pattern: '^rediss?://\\S+$' }),
  PUBLIC_URL: text('an http or https URL without a trailing slash, for example https://api.example.com; required in production', {
    pattern: '^(?!.*[?#@\\\\]|.*://.*://)https?://[!-.0-~]+(/[!-~]*[!-.0-~])?$'
  }),
  TRUST_PROXY: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    default: [],
    description: 'addresses or CIDR ranges separated by commas, for example 10.0.0.0/8; or gateway, for AWS Lambda'
  },
  NODE_ENV: text('development, test or production', { default: 'development', enum: ['development', 'test', 'production'] }),
  LOG_LEVEL: text(`one of ${levels.join(', ')}`, { default: 'info', enum: levels }),
  DRAIN_SECONDS: { type: 'integer', minimum: 0, maximum: 300, description: 'an integer from 0 to 300' }
}

/** The variables of `standardVariables` that are URLs. */
export const urlVariables: readonly string[] = ['DATABASE_URL', 'REDIS_URL', 'PUBLIC_URL']

/** The variable of a secret, or of several. */
export const secretVariable: VariableSchema = {
  type: 'array',
  items: { type: 'string' },
  description:
    'random secrets of at least 32 bytes, separated by commas, the current one first; required in production, and where HOST or TRUST_PROXY is not a loopback address; create one with: openssl rand -base64 32'
}

/** The schema of {@link addressList}. `static` exists in the type only, as in the schemas of TypeBox. */
export type AddressList = VariableSchema & { readonly static: readonly string[] }

/**
 * Returns the schema of a variable with IP addresses and networks, separated by commas, such as `10.1.0.0/16`; its value is an array of them.
 * `defaults` applies where the variable is not set.
 */
export function addressList(defaults: readonly string[]): AddressList {
  return {
    type: 'array',
    items: { type: 'string', format: 'network' },
    default: defaults,
    description: 'addresses or networks separated by commas, for example 10.1.0.0/16'
  } as object as AddressList
}

/** The formats of {@link standardVariables} and {@link addressList}. */
export const formats: Readonly<Record<string, (text: string) => boolean>> = {
  // The system reads digits and dots that are not four numbers as an address too: 0 is every address.
  'listening-host': (host) => (isIP(host) !== 0 && !host.includes('%')) || (/^[\w.-]+$/.test(host) && !/^[\d.]+$|^0x/i.test(host)),
  network(text) {
    const [, address = '', size = '0'] = /^([^/]*)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
    return isIP(address) !== 0 && Number(size) <= (isIPv6(address) ? 128 : 32)
  }
}

/** Returns the text of a variable as its schema expects it: of a list, its items. */
export function itemsOf(schema: VariableSchema | undefined, given: string): string | readonly string[] {
  return schema?.['type'] === 'array' ? given.split(',').map((item) => item.trim()) : given
}

// Other forms that JavaScript reads as numbers mean something else elsewhere, such as 010, 0x10, 1e3, and digits after which precision is lost.
const decimal = /^-?(0|[1-9]\d*)(\.\d+)?$/

/** Returns whether a value that was read from a text means what the text says. */
export function isExact(value: unknown, given: string | readonly string[]): boolean {
  if (Array.isArray(value)) return value.every((item, index) => isExact(item, String(given[index])))
  if (typeof value !== 'number' || typeof given !== 'string') return true
  return decimal.test(given) && !Object.is(value, -0) && (!Number.isInteger(value) || Number.isSafeInteger(value))
}

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
