import type { JsonSchema } from '@concordat/json-schema'
import type { Waivers } from '@concordat/route-lints'
import type { Parameter } from './document.ts'

/** A route as the `onRoute` hook receives it. Its `config` is read by shape, so it does not matter which plugin implements what it declares. */
export interface DescribedRoute {
  readonly method: string | readonly string[]
  /** The full path with its prefixes, for example `/v1/orders/:id`. */
  readonly url: string
  readonly bodyLimit?: number | undefined
  readonly schema?: RouteSchema | undefined
  readonly config?: RouteConfig | undefined
}

/** The Fastify schema of a route, with the keys of `@fastify/swagger`, which this package reads too. */
interface RouteSchema {
  readonly body?: unknown
  readonly querystring?: unknown
  readonly query?: unknown
  readonly params?: unknown
  readonly headers?: unknown
  readonly cookies?: unknown
  readonly response?: unknown
  readonly hide?: boolean | undefined
  readonly operationId?: string | undefined
  readonly summary?: string | undefined
  readonly description?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly deprecated?: boolean | undefined
  readonly consumes?: readonly string[] | undefined
  readonly produces?: readonly string[] | undefined
}

/** The `config` keys that the description of a route is generated from. */
export interface RouteConfig {
  readonly operational?: boolean | undefined
  readonly public?: boolean | undefined
  readonly permissions?: readonly string[] | undefined
  readonly envelope?: boolean | undefined
  readonly collection?: DescribedCollection | undefined
  readonly projection?: DescribedProjection | undefined
  readonly produces?: readonly string[] | undefined
  readonly consumes?: readonly string[] | undefined
  readonly idempotency?: unknown
  readonly cache?: unknown
  readonly validator?: unknown
  readonly requireIfMatch?: boolean | undefined
  readonly openapi?: RouteDescription | false | undefined
  readonly waivers?: Waivers | undefined
}

/** The additions to the generated description of a route, as set in `config.openapi`. `false` there leaves the route out. */
export interface RouteDescription {
  /** Domain error codes of the operation, for example `['INSUFFICIENT_STOCK']`. Each must be in the option `errors`. */
  readonly errors?: readonly string[] | undefined
  /** Whether a request may omit the body, for a route that replaces a missing body before its validation. @default false */
  readonly optionalBody?: boolean | undefined
  /** Headers of the successful responses, each with a description: `{ ETag: 'The tag of the new state.' }`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

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
  readonly perPage?: { readonly default?: number | undefined; readonly max?: number | undefined } | undefined
  readonly maxOffset?: number | undefined
}

/** Returns the methods of a route. */
export function methodsOf({ method }: Pick<DescribedRoute, 'method'>): readonly string[] {
  return typeof method === 'string' ? [method] : method
}

/** Returns the name of a route for error messages. */
export function routeName(route: Pick<DescribedRoute, 'method' | 'url'>): string {
  return `${methodsOf(route).join(', ')} ${route.url}`
}
