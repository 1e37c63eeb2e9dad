/** Status of a version: first `current`, then `deprecated`, then `retired` (rule V5). */
export type VersionStatus = 'current' | 'deprecated' | 'retired'

/** Dates of the deprecation and retirement of a version, published in advance (rules V5, V6). Times are in milliseconds since the Unix epoch. */
export interface Ending {
  readonly deprecatedAt: number
  readonly sunsetAt: number
  /** URL of the migration notes. */
  readonly documentation: string
  /** Number of the version to migrate to; undefined when the API ends with this version. */
  readonly successor: number | undefined
  /** The periods between deprecation and retirement in which the version answers as if it were gone. */
  readonly brownouts: readonly Brownout[]
}

/** A period in milliseconds since the Unix epoch. `until` is the first moment after it. */
export interface Brownout {
  readonly from: number
  readonly until: number
}

/** Version of the API. */
export interface Version {
  readonly number: number
  /** Name in paths and in `_meta.version`, for example `v1`. */
  readonly name: string
  /** End of the version; undefined if it has no end date. */
  readonly ending: Ending | undefined
}

/** Returns the status of a version at a time in milliseconds since the Unix epoch. It changes with the clock, without a deployment. */
export function statusAt({ ending }: Version, time: number): VersionStatus {
  if (ending === undefined || time < ending.deprecatedAt) return 'current'
  return time < ending.sunsetAt ? 'deprecated' : 'retired'
}

/** Returns the brown-out of a version at a time, or undefined. */
export function brownoutAt({ brownouts }: Ending, time: number): Brownout | undefined {
  return brownouts.find(({ from, until }) => from <= time && time < until)
}

/** Returns the newest current version, otherwise the newest that is not retired, otherwise the newest. Expects the oldest version first. */
export function newestAt(versions: readonly Version[], time: number): Version {
  const newest = (status: VersionStatus) => versions.findLast((version) => statusAt(version, time) === status)
  return newest('current') ?? newest('deprecated') ?? (versions.at(-1) as Version)
}
