import { callback, clock, describeOptions, type OptionsOf, type SettingsOf, value } from '@concordat/plugin-options'
import type { FastifyRequest } from 'fastify'

/** The description of {@link EnvelopeOptions}. @readme */
export const envelopeOptions = describeOptions('envelope', {
  /** The base URL of all links, which may have a path. */
  publicUrl: value<string>(),
  /** Without `publicUrl`: hosts of requests that links may use. */
  allowedHosts: value<readonly string[]>(),
  /** Returns `_meta.version`, by default `v1`. */
  version: callback<(request: FastifyRequest) => string>('returns the version', { default: () => 'v1' }),
  /** Returns the path, such as `/v1`, to which `reply.created` and `reply.link` are relative. */
  base: callback<(request: FastifyRequest) => string>('returns a path', { default: () => '' }),
  /** Returns the current time. */
  now: clock()
})

/** Options of `@concordat/envelope`. */
export interface EnvelopeOptions extends OptionsOf<typeof envelopeOptions> {}

/** The options with their defaults. */
export type Settings = SettingsOf<(typeof envelopeOptions)['members']>
