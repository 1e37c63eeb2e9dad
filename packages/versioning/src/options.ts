import { serviceWaivers } from '@concordat/plugin-kit/findings'
import { originResolver } from '@concordat/plugin-kit/links'
import { describeOptions, instance as implementing, number, type OptionsOf, type SettingsOf, value } from '@concordat/plugin-kit/options'
import { type Contracts, contractLater } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance } from 'fastify'
import type { Version } from './lifecycle.ts'
import type { VersionUsageStore } from './usage-store.ts'
import { readVersions, type VersionTable } from './version-table.ts'

/** The description of {@link VersioningOptions}. @readme */
export const versioningOptions = describeOptions('versioning', {
  /** Every version that was ever public, by number. */
  versions: value<VersionTable>({
    default: { 1: {} },
    names: {
      '*': {
        status: true,
        deprecatedAt: true,
        sunsetAt: true,
        documentation: true,
        successor: true,
        brownouts: { '*': { from: true, until: true } }
      }
    }
  }),
  /** The public URL of the service, for links. */
  publicUrl: value<string>(),
  /** Without `publicUrl`: hosts of requests that links may use. */
  allowedHosts: value<readonly string[]>(),
  /** The minimum time between deprecation and retirement. */
  minNoticeDays: number({ default: 180 }),
  /** The path of the list of versions; `false`: neither a list nor a description at `/v<n>`. */
  versionsPath: value<string | false>({ default: '/' }),
  /** Counts the requests of each client to each version, for `app.versionClients()`. */
  store: implementing<VersionUsageStore>(['add', 'list'], 'VersionUsageStore, for example postgresVersionUsageStore(database)'),
  /** Rules that no route follows until a day, by id: `{ P2: { reason: 'clients read the old paths', until: '2027-06-30' } }`. */
  waivers: serviceWaivers()
})

/** Options of `@concordat/versioning`. */
export interface VersioningOptions extends OptionsOf<typeof versioningOptions> {}

/** Resolved options. */
export interface Settings extends Omit<SettingsOf<(typeof versioningOptions)['members']>, 'versions' | 'publicUrl' | 'allowedHosts'> {
  /** Versions, oldest first. */
  readonly versions: readonly Version[]
  readonly originOf: ReturnType<typeof originResolver>
  /** Returns the links of a version to its description. */
  readonly linksOf: Contracts['descriptionLinks']
}

/** Applies the defaults. Throws a `TypeError` with a one-line message when an option is invalid. */
export function resolveOptions(options: VersioningOptions, instance: FastifyInstance): Settings {
  const { versions, publicUrl, allowedHosts, ...settings } = versioningOptions.readPlugin(options)
  const { versionsPath: path, minNoticeDays } = settings
  if (path !== false && !/^\/[^:*]*$/.test(path))
    throw new TypeError(`versioning: options.versionsPath must be a path such as "/versions", or false, but is "${path}".`)
  const descriptionLinks = contractLater(instance, 'descriptionLinks')
  return {
    ...settings,
    versions: readVersions(versions, minNoticeDays),
    originOf: originResolver({ publicUrl, allowedHosts }),
    linksOf: (version) => descriptionLinks()?.(version) ?? []
  }
}
