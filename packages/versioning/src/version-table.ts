import { optionChecks } from '@concordat/plugin-kit/options'
import type { Ending, Version } from './lifecycle.ts'

/** Version without an end date. */
interface LivingVersion {
  /** The other statuses follow from the dates and the clock. */
  readonly status?: 'current' | undefined
}

/** Version with an end: the dates of its deprecation and its retirement, in the past or the future (rules V5, V6). */
interface EndingVersion {
  /** Time from which responses have the deprecation headers: a `Date`, or an ISO 8601 date-time with `Z` or an offset. */
  readonly deprecatedAt: string | Date
  /** Time from which every URL of the version responds with 410. */
  readonly sunsetAt: string | Date
  /** Absolute https URL of the migration notes. */
  readonly documentation: string
  /** Version to migrate to, by default the newest. */
  readonly successor?: number | undefined
  /**
   * Short periods, each of at most a day, in which all but the operational routes of the deprecated version respond with 503, so that clients that read no
   * headers notice its end before it is final. Announce them: `GET /` lists them.
   */
  readonly brownouts?: readonly { readonly from: string | Date; readonly until: string | Date }[] | undefined
}

/** Versions of an API by number. */
export interface VersionTable {
  readonly [number: number]: LivingVersion | EndingVersion
}

const millisecondsPerDay = 86_400_000
const maxUrlLength = 2048
const { time } = optionChecks('versioning')

/** Parses the versions, oldest first. Throws a `TypeError` with a one-line message if they are inconsistent or the notice is too short. */
export function readVersions(table: VersionTable, minNoticeDays: number): readonly Version[] {
  const numbers = Object.keys(table)
    .map(requireNumber)
    .toSorted((a, b) => a - b)
  const newest = numbers.at(-1)
  if (newest === undefined) throw new TypeError('versioning: options.versions is empty. Add at least one version, for example { 1: {} }.')
  const other = numbers.find((number) => number !== newest && (table[number] as LivingVersion).status === 'current')
  if (other !== undefined)
    throw new TypeError(
      `versioning: options.versions[${other}].status must not be "current", because only the newest version, ${newest}, is. Remove it, and set the dates of its deprecation and retirement when they are known.`
    )
  return numbers.map((number) => {
    const { status, ...entry } = table[number] as LivingVersion & Partial<EndingVersion>
    const ending = readEnding(number, entry, numbers, minNoticeDays)
    if (status === undefined || (status === 'current' && ending === undefined)) return { number, name: `v${number}`, ending }
    throw new TypeError(
      `versioning: options.versions[${number}].status must not be "${status}"${ending ? ' for a version with deprecatedAt, sunsetAt, documentation or successor' : ''}: the status follows from the dates and the clock. Remove it and set the dates.`
    )
  })
}

function requireNumber(key: string) {
  if (/^[1-9]\d{0,8}$/.test(key)) return Number(key)
  throw new TypeError(
    `versioning: options.versions has the invalid key "${key}". Use a plain integer of at least 1, for example 1 for v1 (rule V1).`
  )
}

function readEnding(number: number, entry: Partial<EndingVersion>, numbers: readonly number[], minNoticeDays: number): Ending | undefined {
  const { deprecatedAt, sunsetAt, documentation, successor, brownouts } = entry
  if ([deprecatedAt, sunsetAt, documentation, successor, brownouts].every((value) => value === undefined)) return undefined
  if (deprecatedAt === undefined || sunsetAt === undefined || documentation === undefined) {
    throw new TypeError(
      `versioning: options.versions[${number}] must have deprecatedAt, sunsetAt and documentation, or none of them (rules V5, V6).`
    )
  }
  const ending = {
    deprecatedAt: time(`options.versions[${number}].deprecatedAt`, deprecatedAt),
    sunsetAt: time(`options.versions[${number}].sunsetAt`, sunsetAt),
    documentation: httpsUrl(`options.versions[${number}].documentation`, documentation),
    successor: successorOf(number, successor, numbers),
    brownouts: (brownouts ?? []).map(({ from, until }, index) => {
      const name = `options.versions[${number}].brownouts[${index}]`
      return { from: time(`${name}.from`, from), until: time(`${name}.until`, until) }
    })
  }
  if (ending.sunsetAt < ending.deprecatedAt) {
    throw new TypeError(
      `versioning: options.versions[${number}] must not be retired before it is deprecated. Set sunsetAt after deprecatedAt (RFC 9745 §4).`
    )
  }
  const noticeDays = (ending.sunsetAt - ending.deprecatedAt) / millisecondsPerDay
  if (noticeDays < minNoticeDays) {
    throw new TypeError(
      `versioning: options.versions[${number}] must be retired at least ${minNoticeDays} days after it is deprecated, not ${Math.floor(noticeDays)}. Set a later sunsetAt.`
    )
  }
  for (const { from, until } of ending.brownouts) {
    if (from < ending.deprecatedAt || until > ending.sunsetAt)
      throw new TypeError(
        `versioning: options.versions[${number}].brownouts must be between deprecatedAt and sunsetAt. Change their times.`
      )
    if (until <= from || until - from > millisecondsPerDay)
      throw new TypeError(
        `versioning: options.versions[${number}].brownouts must each end after they begin, and take at most a day. Change their times.`
      )
  }
  return ending
}

function httpsUrl(name: string, value: string) {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url?.protocol === 'https:' && url.username === '' && url.password === '' && url.href.length <= maxUrlLength) return url.href
  throw new TypeError(
    `versioning: ${name} must be the absolute https URL of the migration notes, of at most ${maxUrlLength} characters, but is "${value}".`
  )
}

function successorOf(number: number, successor: number | undefined, numbers: readonly number[]) {
  const chosen = successor ?? numbers.at(-1)
  if (successor === undefined && chosen === number) return undefined
  if (chosen !== undefined && chosen > number && numbers.includes(chosen)) return chosen
  throw new TypeError(`versioning: options.versions[${number}].successor must be a later version in options.versions, but is ${successor}.`)
}
