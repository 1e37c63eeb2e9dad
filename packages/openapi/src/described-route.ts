import type { Parameter } from './document.ts'
import type { JsonSchema } from './json-schema.ts'

/** A route as `onRoute` gets it. What its `config` says is read by shape: whichever plugin keeps the promise, the description tells it. */
export interface DescribedRoute {
  readonly method: string | readonly string[]
  /** The whole path, prefixes included, as `/v1/orders/:id`. */
  readonly url: string
  readonly bodyLimit?: number | undefined
  readonly schema?: RouteSchema | undefined
  readonly config?: RouteConfig | undefined
}

/** Fastify's schemas of a route, with the members that `@fastify/swagger` takes from there. */
export interface RouteSchema {
  readonly body?: unknown
  readonly querystring?: unknown
  readonly query?: unknown
  readonly params?: unknown
  readonly headers?: unknown
  readonly response?: unknown
  readonly hide?: boolean
  readonly operationId?: string
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly deprecated?: boolean
}

/** The `config` keys that a description is made of. */
export interface RouteConfig {
  readonly operational?: boolean | undefined
  readonly public?: boolean | undefined
  readonly permissions?: readonly string[] | undefined
  readonly envelope?: boolean | undefined
  readonly collection?: DescribedCollection | undefined
  readonly produces?: readonly string[] | undefined
  readonly consumes?: readonly string[] | undefined
  readonly idempotency?: unknown
  readonly cache?: unknown
  readonly validator?: unknown
  readonly requireIfMatch?: boolean | undefined
  readonly openapi?: RouteDescription | false | undefined
  readonly waivers?: Readonly<Record<string, string>> | undefined
}

/** What a route may add to its description by `config.openapi`; `false` there leaves the route out. */
export interface RouteDescription {
  /** Codes of the domain's errors that the operation can give, as `['INSUFFICIENT_STOCK']`. Each must be among the option `errors`. */
  readonly errors?: readonly string[] | undefined
  /** Headers that its successes may have, each with what it says: `{ ETag: 'The tag of the new state.' }`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** A collection as `config.collection` has it. */
export interface DescribedCollection {
  readonly style: 'page' | 'cursor'
  readonly item: JsonSchema
  readonly parameters: readonly Parameter[]
  readonly sorts: ReadonlyMap<string, unknown>
  readonly defaultSort: string
  readonly filters: ReadonlyMap<string, readonly string[]>
  readonly count?: unknown
  readonly perPage?: { readonly default?: number | undefined; readonly max?: number | undefined } | undefined
  readonly maxOffset?: number | undefined
}

/** The methods of a route. */
export function methodsOf({ method }: Pick<DescribedRoute, 'method'>): readonly string[] {
  return typeof method === 'string' ? [method] : method
}

/** How a route is called in complaints. */
export function routeName(route: Pick<DescribedRoute, 'method' | 'url'>): string {
  return `${methodsOf(route).join(', ')} ${route.url}`
}
