import type { Ending, Version } from './lifecycle.ts'

/** A version without an end. */
export interface LivingVersion {
  /** May be written out; every other status follows from dates and the clock. */
  readonly status?: 'current' | undefined
}

/** A version whose end is set: deprecated from one moment, retired from another, whether or not they have come (rules V5, V6). */
export interface EndingVersion {
  /** From when on answers carry the deprecation headers: a `Date`, or an ISO 8601 date-time with `Z` or an offset. */
  readonly deprecatedAt: string | Date
  /** From when on every URL of the version answers 410. */
  readonly sunsetAt: string | Date
  /** The migration notes: an absolute https URL. */
  readonly documentation: string
  /**
   * The version to move to.
   * @default the newest version
   */
  readonly successor?: number | undefined
}

/** The versions of an API by their numbers. */
export type VersionTable = Readonly<Record<number, LivingVersion | EndingVersion>>

const millisecondsPerDay = 86_400_000
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/
const knownKeys = new Set(['status', 'deprecatedAt', 'sunsetAt', 'documentation', 'successor'])

/** Reads the table of versions, oldest first. Throws a `TypeError` with one line for what contradicts itself or comes too suddenly. */
export function readVersions(table: VersionTable, minimumNoticeDays: number): readonly Version[] {
  const numbers = Object.keys(table)
    .map(requireNumber)
    .toSorted((a, b) => a - b)
  if (numbers.length === 0) throw new TypeError('versions is empty. Name at least one version, as { 1: {} }.')
  return numbers.map((number) => {
    const entry = table[number] as LivingVersion & Partial<EndingVersion>
    requireKnownKeys(number, entry)
    return { number, name: `v${number}`, ending: readEnding(number, entry, numbers, minimumNoticeDays) }
  })
}

function requireNumber(key: string) {
  if (/^[1-9]\d{0,8}$/.test(key)) return Number(key)
  throw new TypeError(`versions has the key "${key}". A version is a plain integer from 1 on: write 1 for v1 (rule V1).`)
}

function requireKnownKeys(number: number, entry: LivingVersion & Partial<EndingVersion>) {
  const { status, deprecatedAt, sunsetAt, documentation, successor } = entry
  for (const key of Object.keys(entry)) {
    if (!knownKeys.has(key)) throw new TypeError(`versions[${number}] has "${key}". Use only ${[...knownKeys].join(', ')}.`)
  }
  if (status !== undefined && status !== 'current') {
    throw new TypeError(
      `versions[${number}] states the status "${String(status)}". Give its dates instead: the status follows from the clock.`
    )
  }
  const dated = [deprecatedAt, sunsetAt, documentation, successor].some((value) => value !== undefined)
  if (status !== undefined && dated) {
    throw new TypeError(`versions[${number}] is stated to be current, but has an end. Leave status out: it follows from the clock.`)
  }
}

function readEnding(
  number: number,
  entry: Partial<EndingVersion>,
  numbers: readonly number[],
  minimumNoticeDays: number
): Ending | undefined {
  const { deprecatedAt, sunsetAt, documentation, successor } = entry
  if (deprecatedAt === undefined && sunsetAt === undefined && documentation === undefined && successor === undefined) return undefined
  if (deprecatedAt === undefined || sunsetAt === undefined || documentation === undefined) {
    throw new TypeError(
      `versions[${number}] has an end that is only half told. Give deprecatedAt, sunsetAt and documentation together (rules V5, V6).`
    )
  }
  const ending = {
    deprecatedAt: timeOf(`versions[${number}].deprecatedAt`, deprecatedAt),
    sunsetAt: timeOf(`versions[${number}].sunsetAt`, sunsetAt),
    documentation: httpsUrl(`versions[${number}].documentation`, documentation),
    successor: successorOf(number, successor, numbers)
  }
  if (ending.sunsetAt < ending.deprecatedAt) {
    throw new TypeError(`versions[${number}] is retired before it is deprecated. Put sunsetAt after deprecatedAt (RFC 9745 §4).`)
  }
  const noticeDays = (ending.sunsetAt - ending.deprecatedAt) / millisecondsPerDay
  if (noticeDays < minimumNoticeDays) {
    throw new TypeError(
      `versions[${number}] gives ${Math.floor(noticeDays)} days of notice. Put sunsetAt at least ${minimumNoticeDays} days after deprecatedAt.`
    )
  }
  return ending
}

function timeOf(name: string, value: string | Date) {
  const time = typeof value === 'string' && !dateTime.test(value) ? Number.NaN : new Date(value).getTime()
  if (Number.isNaN(time)) {
    throw new TypeError(`${name} is "${String(value)}". Give a Date or an ISO 8601 date-time with an offset, as "2028-01-01T00:00:00Z".`)
  }
  return time
}

function httpsUrl(name: string, value: string) {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url?.protocol === 'https:' && url.username === '' && url.password === '') return url.href
  throw new TypeError(`${name} is "${value}". Give the absolute https URL of the migration notes.`)
}

function successorOf(number: number, successor: number | undefined, numbers: readonly number[]) {
  const chosen = successor ?? numbers.at(-1)
  if (successor === undefined && chosen === number) return undefined
  if (chosen !== undefined && chosen > number && numbers.includes(chosen)) return chosen
  throw new TypeError(`versions[${number}].successor is ${successor}. Name a later version of the table.`)
}
