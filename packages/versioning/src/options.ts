import { originResolver } from '@concordat/links'
import { callback, clock, describeOptions, number, type OptionsOf, type SettingsOf, value } from '@concordat/plugin-options'
import type { Version } from './lifecycle.ts'
import { readVersions, type VersionTable } from './version-table.ts'

type LinksOf = (version: string) => readonly { readonly rel: string; readonly path: string }[]

/** The description of {@link VersioningOptions}. @readme */
export const versioningOptions = describeOptions('versioning', {
  /** Every version that was ever public, by number. */
  versions: value<VersionTable>({
    default: { 1: {} },
    names: { '*': { status: true, deprecatedAt: true, sunsetAt: true, documentation: true, successor: true } }
  }),
  /** The public URL of the service, for links. */
  publicUrl: value<string>(),
  /** Without `publicUrl`: hosts of requests that links may use. */
  allowedHosts: value<readonly string[]>(),
  /** The minimum time between deprecation and retirement. */
  minNoticeDays: number({ default: 180 }),
  /** The path of the list of versions; `false`: neither a list nor a description at `/v<n>`. */
  versionsPath: value<string | false>({ default: '/' }),
  /** Returns the links of these responses; the list has those of the newest version. */
  links: callback<LinksOf>('returns links', { default: () => [] }),
  /** Ids of rules of other packages that `config.waivers` may name. */
  otherRules: value<readonly string[]>({ default: [] }),
  /** Returns the current time. */
  now: clock()
})

/** Options of `@concordat/versioning`. */
export interface VersioningOptions extends OptionsOf<typeof versioningOptions> {}

/** Resolved options. */
export interface Settings extends Omit<SettingsOf<(typeof versioningOptions)['members']>, 'versions' | 'publicUrl' | 'allowedHosts'> {
  /** Versions, oldest first. */
  readonly versions: readonly Version[]
  readonly originOf: ReturnType<typeof originResolver>
}

/** Applies the defaults. Throws a `TypeError` with a one-line message when an option is invalid. */
export function resolveOptions(options: VersioningOptions): Settings {
  const { versions, publicUrl, allowedHosts, ...settings } = versioningOptions.readPlugin(options)
  const { versionsPath: path, minNoticeDays } = settings
  if (path !== false && !/^\/[^:*]*$/.test(path))
    throw new TypeError(`versioning: options.versionsPath must be a path such as "/versions", or false, but is "${path}".`)
  return { ...settings, versions: readVersions(versions, minNoticeDays), originOf: originResolver({ publicUrl, allowedHosts }) }
}
