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
  /**
   * Adds the counts of a process to those of the others. `at` is the time of the report, in milliseconds since the Unix epoch. A process reports each hour also
   * without uses, which shows that there were none.
   */
  add(uses: readonly VersionUse[], at?: number): Promise<void>
  /** Returns the clients of all versions, the one that made the last request first: at most ten thousand. */
  list(): Promise<readonly VersionClient[]>
  /**
   * Deletes counts that are older than the retention at this time, at most `maximum`, and returns their number. Called each minute, also while there are no
   * requests, and again after a full batch. Processes that share the counts take turns.
   */
  sweep?: ((now: number, maximum: number) => Promise<number>) | undefined
}
