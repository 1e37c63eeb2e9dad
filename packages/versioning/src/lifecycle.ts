/** Where a version stands in its life: `current`, then `deprecated`, then `retired` (rule V5). */
export type VersionStatus = 'current' | 'deprecated' | 'retired'

/** The end of a version, all of it published in advance (rules V5, V6). Times in milliseconds since 1970. */
export interface Ending {
  readonly deprecatedAt: number
  readonly sunsetAt: number
  /** Where the migration notes are. */
  readonly documentation: string
  /** The number of the version to move to; absent when the API ends with this version. */
  readonly successor: number | undefined
}

/** One version of the API. */
export interface Version {
  readonly number: number
  /** How it is written in paths and in `_meta.version`: `v1`. */
  readonly name: string
  /** Absent as long as no end is set. */
  readonly ending: Ending | undefined
}

/** The status of a version at this time, in milliseconds since 1970: it changes by the clock, without a new deployment. */
export function statusAt({ ending }: Version, time: number): VersionStatus {
  if (ending === undefined || time < ending.deprecatedAt) return 'current'
  return time < ending.sunsetAt ? 'deprecated' : 'retired'
}

/** The newest of these versions, given oldest first, that is current; when none is, the newest that is not retired; else the newest. */
export function newestAt(versions: readonly Version[], time: number): Version {
  const newest = (status: VersionStatus) => versions.findLast((version) => statusAt(version, time) === status)
  return newest('current') ?? newest('deprecated') ?? (versions.at(-1) as Version)
}
