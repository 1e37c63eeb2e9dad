import type { Link, OriginOptions } from '@concordat/links'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { JsonSchema } from './envelope-schema.ts'

/** What another plugin adds to the envelope of an answer. */
export interface EnvelopePart {
  readonly links?: readonly Link[] | undefined
  /** Members of `_meta`, each declared by the option `meta` for the route. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined
}

/** Settings of the envelope. */
export interface EnvelopeOptions extends OriginOptions {
  /**
   * What `_meta.version` says.
   * @default () => 'v1'
   */
  readonly version?: (request: FastifyRequest) => string
  /**
   * The path that `reply.created` and `reply.link` are relative to, without a trailing slash, as `/v1`.
   * @default () => ''
   */
  readonly base?: (request: FastifyRequest) => string
  /**
   * Functions that add links, and members of `_meta`, to every enveloped answer.
   * @default []
   */
  readonly parts?: readonly ((request: FastifyRequest, reply: FastifyReply) => EnvelopePart)[]
  /**
   * The schemas of what the answers of a route have in `_meta` beside version and timestamp. Each answer must then have them all.
   * @default () => undefined
   */
  readonly meta?: (route: RouteOptions) => Readonly<Record<string, JsonSchema>> | undefined
  /**
   * Path prefixes of routes that other people's plugins add and that are not enveloped, as `/reference/`.
   * @default []
   */
  readonly exceptPrefixes?: readonly string[]
  /** The clock, in milliseconds. @default Date.now */
  readonly now?: () => number
}

/** The options with every default in place. */
export type ResolvedEnvelopeOptions = Required<Omit<EnvelopeOptions, keyof OriginOptions>> & OriginOptions

/** Fills in the defaults. Throws a `TypeError` with one line for a value that makes no sense. */
export function resolveOptions(options: EnvelopeOptions): ResolvedEnvelopeOptions {
  const exceptPrefixes = options.exceptPrefixes ?? []
  const bad = exceptPrefixes.find((prefix) => !prefix.startsWith('/') || prefix === '/')
  if (bad !== undefined)
    throw new TypeError(`exceptPrefixes has "${bad}". Give paths that begin with a slash and are longer than it, as "/reference/".`)
  return {
    ...options,
    version: options.version ?? (() => 'v1'),
    base: options.base ?? (() => ''),
    parts: options.parts ?? [],
    meta: options.meta ?? (() => undefined),
    exceptPrefixes,
    now: options.now ?? Date.now
  }
}
