import type { JsonSchema } from '@concordat/json-schema'
import type { Link, OriginOptions } from '@concordat/links'
import { requirePluginNames } from '@concordat/plugin-options'
import { contractLater } from '@concordat/plugin-wiring'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'

/** The links and `_meta` members that another plugin adds to the envelope of a response. */
export interface EnvelopePart {
  readonly links?: readonly Link[] | undefined
  /** Further members of `_meta`. The option `meta` must declare each of them for the route. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined
}

/** Options of @concordat/envelope. */
export interface EnvelopeOptions extends OriginOptions {
  /**
   * Returns `_meta.version`.
   * @default the version of the request, by versioning, otherwise 'v1'
   */
  readonly version?: ((request: FastifyRequest) => string) | undefined
  /**
   * Returns the base path that is added to the paths passed to `reply.created` and `reply.link`, without a trailing slash, for example `/v1`.
   * @default the prefix of the version of the request, by versioning, otherwise ''
   */
  readonly base?: ((request: FastifyRequest) => string) | undefined
  /**
   * Functions that add links, and members of `_meta`, to every enveloped response.
   * @default []
   */
  readonly parts?: readonly ((request: FastifyRequest, reply: FastifyReply) => EnvelopePart)[] | undefined
  /**
   * Returns the schemas of the additional `_meta` members in a route's responses, by name. Every response must then contain all of them.
   * @default () => undefined
   */
  readonly meta?: ((route: RouteOptions) => Readonly<Record<string, JsonSchema>> | undefined) | undefined
  /** Returns the current time in milliseconds since the Unix epoch. @default Date.now */
  readonly now?: (() => number) | undefined
}

/** The options with their defaults. */
export type ResolvedEnvelopeOptions = OriginOptions & {
  readonly [Name in Exclude<keyof EnvelopeOptions, keyof OriginOptions>]-?: NonNullable<EnvelopeOptions[Name]>
}

/** Returns the options with defaults applied. */
export function resolveOptions(options: EnvelopeOptions, app: FastifyInstance): ResolvedEnvelopeOptions {
  requirePluginNames('envelope', options, {
    publicUrl: true,
    allowedHosts: true,
    version: true,
    base: true,
    parts: true,
    meta: true,
    now: true
  })
  const versions = contractLater(app, 'versions')
  return {
    ...options,
    version: options.version ?? ((request) => versions()?.nameOf(request) ?? 'v1'),
    base: options.base ?? ((request) => versions()?.prefixOf(request) ?? ''),
    parts: options.parts ?? [],
    meta: options.meta ?? (() => undefined),
    now: options.now ?? (() => Date.now())
  }
}
