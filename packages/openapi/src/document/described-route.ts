import type { Waivers } from '@concordat/plugin-kit/findings'
import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import { describeOptions, flag, type OptionsOf, value } from '@concordat/plugin-kit/options'
import type { FastifySchema } from 'fastify'
import type { Parameter } from './document.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Additions to the description of the route, or `false` to leave the route out of the documents. */
    openapi?: RouteDescription | false | undefined
  }
  // The same declarations as those of @fastify/swagger, so that a service can use both.
  interface FastifySchema {
    hide?: boolean
    deprecated?: boolean
    tags?: readonly string[]
    description?: string
    summary?: string
    consumes?: readonly string[]
    produces?: readonly string[]
    security?: ReadonlyArray<{ [securityLabel: string]: readonly string[] }>
    operationId?: string
  }
}

/** A route as the `onRoute` hook receives it. Its `config` is read by shape, so it does not matter which plugin implements what it declares. */
export interface DescribedRoute {
  readonly method: string | readonly string[]
  /** The full path with its prefixes, for example `/v1/orders/:id`. */
  readonly url: string
  readonly bodyLimit?: number | undefined
  readonly schema?: (FastifySchema & { readonly query?: unknown; readonly cookies?: unknown }) | undefined
  readonly config?: RouteConfig | undefined
}

/** The `config` keys that the description of a route is generated from. */
export interface RouteConfig {
  readonly operational?: boolean | undefined
  readonly permissions?: readonly string[] | undefined
  readonly collection?: DescribedCollection | undefined
  readonly projection?: DescribedProjection | undefined
  readonly consumes?: readonly string[] | undefined
  readonly idempotency?: unknown
  readonly job?: string | undefined
  readonly cache?: unknown
  readonly validator?: unknown
  readonly requireIfMatch?: boolean | undefined
  readonly openapi?: RouteDescription | false | undefined
  readonly waivers?: Waivers | undefined
}

/** The description of {@link RouteDescription}. */
export const routeDescription = describeOptions('openapi', {
  /** Error codes of the operation, each in the option `errors`. */
  errors: value<readonly string[]>({ default: [] }),
  /** Whether a request may omit the body. */
  optionalBody: flag(),
  /** Headers of the successful responses, each with its description. */
  headers: value<Readonly<Record<string, string>>>({ default: {} })
})

/** `config.openapi` of a route. */
interface RouteDescription extends OptionsOf<typeof routeDescription> {}

/** A resource whose fields clients can select, as declared in `config.projection`. */
export interface DescribedProjection {
  readonly item: JsonSchema
  /** The schema of the resource with only some of its fields. */
  readonly projected: JsonSchema
  /** The schema to which the local references of both refer. @default the item */
  readonly document?: JsonSchema | undefined
  readonly parameters: readonly Parameter[]
}

/** A collection as declared in `config.collection`. */
interface DescribedCollection extends DescribedProjection {
  readonly style: 'page' | 'cursor'
  readonly sorts: ReadonlyMap<string, unknown>
  readonly defaultSort: string
  readonly filters: ReadonlyMap<string, readonly string[]>
  readonly count?: unknown
  readonly maxOffset?: number | undefined
}

/** Returns the default and the maximum number of items in a page of a collection. */
export function perPageOf({ parameters }: DescribedCollection): { readonly default?: unknown; readonly maximum?: unknown } {
  return parameters.find(({ name }) => name === 'perPage')?.schema ?? {}
}

/** Returns the methods of a route. */
export function methodsOf({ method }: Pick<DescribedRoute, 'method'>): readonly string[] {
  return typeof method === 'string' ? [method] : method
}

/** Returns the name of a route for error messages. */
export function routeName(route: Pick<DescribedRoute, 'method' | 'url'>): string {
  return `${methodsOf(route).join(', ')} ${route.url}`
}
