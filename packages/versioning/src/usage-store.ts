/** The requests of one client to one version on one day, which a process counted since its last report. */
export interface VersionUse {
  /** For example `v1`. */
  readonly version: string
  /** The id of the client application; `null` where it is not known. */
  readonly client: string | null
  /** The day in UTC, for example `2027-10-04`. */
  readonly day: string
  readonly requests: number
  /** Milliseconds since the Unix epoch. */
  readonly lastUsedAt: number
}

/** A client of a version, with its requests on the days that the store retains. */
export interface VersionClient {
  readonly version: string
  /** The id of the client application; `null` for all requests without a known client. */
  readonly client: string | null
  /** The requests on all days. */
  readonly requests: number
  /** Milliseconds since the Unix epoch. */
  readonly lastUsedAt: number
  /** Days in UTC, oldest first. */
  readonly days: readonly { readonly day: string; readonly requests: number }[]
}

/** Where the processes of a service count who uses its versions. */
export interface VersionUsageStore {
  /** Adds the counts of a process to those of the others. */
  add(uses: readonly VersionUse[]): Promise<void>
  /** Returns the clients of all versions, the one that made the last request first: at most ten thousand. */
  list(): Promise<readonly VersionClient[]>
}
