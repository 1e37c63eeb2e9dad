import { callback, describeOptions, type OptionsOf, type SettingsOf, value } from '@concordat/plugin-kit/options'
import { contractLater } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** The description of {@link EnvelopeOptions}. @readme */
export const envelopeOptions = describeOptions('envelope', {
  /** The base URL of all links, which may have a path. */
  publicUrl: value<string>(),
  /** Without `publicUrl`: hosts of requests that links may use. */
  allowedHosts: value<readonly string[]>(),
  /** Returns `_meta.version`, of at most 64 characters, by default as versioning knows it, otherwise `v1`. */
  version: callback<(request: FastifyRequest) => string>('returns the version')
})

/** Options of `@concordat/envelope`. */
export interface EnvelopeOptions extends OptionsOf<typeof envelopeOptions> {}

/** The options with their defaults. */
export interface Settings extends Omit<SettingsOf<(typeof envelopeOptions)['members']>, 'version'> {
  readonly version: (request: FastifyRequest) => string
  /** Returns the path to which `reply.created` and `reply.link` are relative: that of the version, such as `/v1`. */
  readonly base: (request: FastifyRequest) => string
}

// The description of a service publishes this limit.
const maxVersionLength = 64

/** Returns the options with defaults applied. */
export function resolveOptions(options: EnvelopeOptions, app: FastifyInstance): Settings {
  const { version, ...settings } = envelopeOptions.readPlugin(options)
  const versions = contractLater(app, 'versions')
  return {
    ...settings,
    version: version ? (request) => shortName(version(request)) : (request) => versions()?.nameOf(request) ?? 'v1',
    base: (request) => versions()?.prefixOf(request) ?? ''
  }
}

function shortName(version: string) {
  if (version.length <= maxVersionLength) return version
  throw new TypeError(
    `envelope: options.version returned more than ${maxVersionLength} characters. Return the name of a version, for example "v1".`
  )
}
