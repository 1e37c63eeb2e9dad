import { callback, clock, describeOptions, type OptionsOf, type SettingsOf, value } from '@concordat/plugin-options'
import type { FastifyRequest } from 'fastify'

/** The description of {@link EnvelopeOptions}. @readme */
export const envelopeOptions = describeOptions('envelope', {
  /** The base URL of all links, for example `https://api.example.com`. It may have a path. */
  publicUrl: value<string>(),
  /** Without `publicUrl`: the hosts of requests that links may contain. For other hosts, links contain the address that the server listens on. */
  allowedHosts: value<readonly string[]>(),
  /** Returns `_meta.version`, by default `v1`. */
  version: callback<(request: FastifyRequest) => string>('returns the version', { default: () => 'v1' }),
  /** Returns the path to which `reply.created` and `reply.link` are relative, for example `/v1`. */
  base: callback<(request: FastifyRequest) => string>('returns a path', { default: () => '' }),
  /** Returns the current time. */
  now: clock()
})

/** Options of `@concordat/envelope`. */
export interface EnvelopeOptions extends OptionsOf<typeof envelopeOptions> {}

/** The options with their defaults. */
export type Settings = SettingsOf<(typeof envelopeOptions)['members']>
