import { type OriginOptions, originResolver } from '@concordat/links'
import type { Version } from './lifecycle.ts'
import { readVersions, type VersionTable } from './version-table.ts'

/** What `@concordat/versioning` can be told. */
export interface VersioningOptions extends OriginOptions {
  /**
   * Every version that was ever public, by number, retired ones included: a retired version answers 410 for good.
   * @default { 1: {} } – one version, without an end
   */
  readonly versions?: VersionTable | undefined
  /**
   * The shortest time between deprecation and retirement, in days.
   * @default 180
   */
  readonly minimumNoticeDays?: number | undefined
  /**
   * Adds `Warning: 299 - "…"` to the answers of a deprecated version, for clients that still read that header.
   * @default false
   */
  readonly warning?: boolean | undefined
  /**
   * `config` of the `GET /` route that lists the versions. `operational: true` is always part of it.
   * @default { operational: true, public: true }
   */
  readonly routeConfig?: Readonly<Record<string, unknown>> | undefined
  /**
   * Paths that were published once (`/v1/orders/:id` or `/v1/orders/{id}`). Each must still be registered, as long as its
   * version is not retired (rule P4).
   * @default []
   */
  readonly publishedPaths?: readonly string[] | undefined
  /**
   * Paths below which third-party plugins register routes that are no part of the API, as `/reference`. They are not linted.
   * @default []
   */
  readonly exceptPrefixes?: readonly string[] | undefined
  /**
   * Ids of rules that other packages lint, so that `config.waivers` may name them.
   * @default []
   */
  readonly otherRules?: readonly string[] | undefined
  /**
   * The clock, in milliseconds since 1970.
   * @default Date.now
   */
  readonly now?: (() => number) | undefined
}

/** The options as the plugin works with them. */
export interface Settings {
  /** Oldest first. */
  readonly versions: readonly Version[]
  readonly warning: boolean
  readonly routeConfig: Readonly<Record<string, unknown>>
  readonly publishedPaths: readonly string[]
  readonly exceptPrefixes: readonly string[]
  readonly otherRules: readonly string[]
  readonly originOf: ReturnType<typeof originResolver>
  readonly now: () => number
}

/** Fills in the defaults. Throws a `TypeError` with one line for what can't work. */
export function resolveOptions(options: VersioningOptions): Settings {
  const minimumNoticeDays = options.minimumNoticeDays ?? 180
  if (!Number.isFinite(minimumNoticeDays) || minimumNoticeDays < 0) {
    throw new TypeError(`minimumNoticeDays is ${minimumNoticeDays}. Give a number of days, 0 or more.`)
  }
  return {
    versions: readVersions(options.versions ?? { 1: {} }, minimumNoticeDays),
    warning: options.warning ?? false,
    routeConfig: { ...(options.routeConfig ?? { public: true }), operational: true },
    publishedPaths: requirePaths('publishedPaths', options.publishedPaths ?? [], /^\//),
    exceptPrefixes: requirePaths('exceptPrefixes', options.exceptPrefixes ?? [], /^\/.*[^/]$/),
    otherRules: options.otherRules ?? [],
    originOf: originResolver(options),
    now: options.now ?? Date.now
  }
}

function requirePaths(name: string, paths: readonly string[], shape: RegExp) {
  const wrong = paths.find((path) => !shape.test(path))
  if (wrong !== undefined) throw new TypeError(`${name} has "${wrong}". Write a path as "/reference", from its first slash.`)
  return paths
}
