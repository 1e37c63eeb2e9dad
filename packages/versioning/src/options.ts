import { type OriginOptions, originResolver } from '@concordat/links'
import { optionChecks, requirePluginNames } from '@concordat/plugin-options'
import { contractLater, contributions } from '@concordat/plugin-wiring'
import type { FastifyInstance } from 'fastify'
import type { Version } from './lifecycle.ts'
import { readVersions, type VersionTable } from './version-table.ts'

/** Options of `@concordat/versioning`. */
export interface VersioningOptions extends OriginOptions {
  /**
   * Every version that was ever public, by number, including retired versions, which respond with 410 permanently.
   * @default { 1: {} } – one version without an end date
   */
  readonly versions?: VersionTable | undefined
  /**
   * Minimum time between deprecation and retirement, in days.
   * @default 180
   */
  readonly minNoticeDays?: number | undefined
  /**
   * Whether responses of a deprecated version also have the header `Warning: 299 - "…"`, for clients that still read it.
   * @default false
   */
  readonly warning?: boolean | undefined
  /**
   * The path at which the versions are listed, or `false` for no list and no route for a single version at `/v<n>`.
   * @default '/'
   */
  readonly versionsPath?: string | false | undefined
  /**
   * `config` of the routes that describe the versions. `operational: true` is always part of it.
   * @default { operational: true, public: true }
   */
  readonly routeConfig?: Readonly<Record<string, unknown>> | undefined
  /**
   * Paths that were published, such as `/v1/orders/:id` or `/v1/orders/{id}`. Each must stay registered until its version is retired (rule P4).
   * @default []
   */
  readonly publishedPaths?: readonly string[] | undefined
  /**
   * Returns the current time in milliseconds since the Unix epoch.
   * @default Date.now
   */
  readonly now?: (() => number) | undefined
}

/** Resolved options. */
export interface Settings {
  /** Versions, oldest first. */
  readonly versions: readonly Version[]
  readonly warning: boolean
  readonly versionsPath: string | false
  readonly linksOf: (version: string) => readonly { readonly rel: string; readonly path: string }[]
  readonly routeConfig: Readonly<Record<string, unknown>>
  readonly publishedPaths: readonly string[]
  readonly otherRules: () => readonly string[]
  readonly originOf: ReturnType<typeof originResolver>
  readonly now: () => number
}

const { number } = optionChecks('versioning')

/** Applies the defaults. Throws a `TypeError` with a one-line message when an option is invalid. */
export function resolveOptions(options: VersioningOptions, instance: FastifyInstance): Settings {
  requirePluginNames('versioning', options, {
    publicUrl: true,
    allowedHosts: true,
    versions: { '*': { status: true, deprecatedAt: true, sunsetAt: true, documentation: true, successor: true } },
    minNoticeDays: true,
    warning: true,
    routeConfig: true,
    publishedPaths: true,
    versionsPath: true,
    now: true
  })
  const descriptionLinks = contractLater(instance, 'descriptionLinks')
  const minNoticeDays = number('options.minNoticeDays', options.minNoticeDays ?? 180, 0)
  return {
    versions: readVersions(options.versions ?? { 1: {} }, minNoticeDays),
    warning: options.warning ?? false,
    routeConfig: { ...(options.routeConfig ?? { public: true }), operational: true },
    versionsPath: requireVersionsPath(options.versionsPath ?? '/'),
    linksOf: (version) => descriptionLinks()?.(version) ?? [],
    publishedPaths: requirePaths(options.publishedPaths ?? []),
    otherRules: () => contributions(instance, 'rules').flat(),
    originOf: originResolver(options),
    now: options.now ?? (() => Date.now())
  }
}

function requireVersionsPath(path: string | false) {
  if (path !== false && !/^\/[^:*]*$/.test(path))
    throw new TypeError(`versioning: options.versionsPath must be a path such as "/versions", or false, but is "${path}".`)
  return path
}

function requirePaths(paths: readonly string[]) {
  const wrong = paths.find((path) => !path.startsWith('/'))
  if (wrong !== undefined)
    throw new TypeError(`versioning: options.publishedPaths has the invalid path "${wrong}". Use a path such as "/v1/orders".`)
  return paths
}
