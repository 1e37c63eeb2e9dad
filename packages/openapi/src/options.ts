import { type OriginOptions, originResolver } from '@concordat/links'
import { requirePluginNames } from '@concordat/plugin-options'
import { type RouteLint, requireWaivers, type Waivers } from '@concordat/route-lints'
import type { DescribedRoute } from './described-route.ts'
import type { Header, Parameter, Response } from './document.ts'
import { type LintedRoute, lintIds } from './lints.ts'

/** Additions to the description of an operation, for example from other plugins. */
export interface OperationParts {
  readonly parameters?: readonly Parameter[] | undefined
  /** Response headers by name. `statuses` limits a header to some status codes (`2XX`, `201`). @default all status codes */
  readonly headers?: Readonly<Record<string, Header & { readonly statuses?: readonly string[] | undefined }>> | undefined
  /** Responses that no schema declares, such as a 304, by status code. */
  readonly responses?: Readonly<Record<string, Response>> | undefined
  /** Sentences to add to the description. */
  readonly notes?: readonly string[] | undefined
  /** Specification extensions: keys that start with `x-`. */
  readonly extensions?: Readonly<Record<`x-${string}`, unknown>> | undefined
}

/** A version of the API and, once they are known, the dates of its deprecation and retirement. */
interface DescribedVersion {
  readonly status?: string | undefined
  readonly deprecatedAt?: string | Date | undefined
  readonly sunsetAt?: string | Date | undefined
  /** The URL of the migration notes. */
  readonly documentation?: string | undefined
  /** The successor of the version; ignored, and accepted only so that the same `versions` can be passed to the versioning plugin. */
  readonly successor?: number | undefined
}

/** Options of `@concordat/openapi`. */
export interface OpenapiOptions extends Pick<OriginOptions, 'publicUrl'> {
  /** The name of the API. @default 'API' */
  readonly title?: string | undefined
  /** The description of the API, in Markdown. @default 'An API that follows the Concordat conventions.' */
  readonly description?: string | undefined
  /** The contact for questions about the API. */
  readonly contact?:
    | { readonly name?: string | undefined; readonly url?: string | undefined; readonly email?: string | undefined }
    | undefined
  readonly license?: { readonly name: string; readonly url?: string | undefined; readonly identifier?: string | undefined } | undefined
  /**
   * The versions of the API by number, in the same form as in `@concordat/versioning`. The document of each is at `/v<n>/openapi`.
   * @default { 1: {} }
   */
  readonly versions?: Readonly<Record<number, DescribedVersion>> | undefined
  /**
   * `config` of the routes that this package adds. `envelope: false` is always added to it.
   * @default { public: true, operational: true }
   */
  readonly routeConfig?: Readonly<Record<string, unknown>> | undefined
  /** Functions that return additions to the description of a route's operation. @default [] */
  readonly parts?: readonly ((route: DescribedRoute) => OperationParts | undefined)[] | undefined
  /**
   * The OpenAPI security schemes that clients can use to authenticate, by name. A route with `config.permissions` accepts any of them.
   * @default those of authentication, otherwise a bearer token
   */
  readonly securitySchemes?: Readonly<Record<string, object>> | undefined
  /**
   * What happens when a lint finds a problem: `'error'` prevents the service from starting, `'warning'` logs each finding, `'off'` disables the
   * lints.
   * @default 'error'
   */
  readonly lint?: 'error' | 'warning' | 'off' | undefined
  /** Additional lints that check one route at a time, for example lints that other packages export. @default [] */
  readonly routeLints?: readonly RouteLint<LintedRoute>[] | undefined
  /** Rules that do not apply to this API, by id, each with the reason. @default {} */
  readonly waivers?: Waivers | undefined
  /**
   * The path of the API reference page, which shows the documents and can send requests, or `false` for no page.
   * @default '/reference', or false when NODE_ENV is "production"
   */
  readonly reference?: `/${string}` | false | undefined
  /** Returns the current time, in milliseconds since the Unix epoch. @default Date.now */
  readonly now?: (() => number) | undefined
}

/** A version of the API, with the data that its document needs. Times are in milliseconds since the Unix epoch. */
export interface VersionToDescribe {
  readonly number: number
  readonly name: string
  readonly ending: { readonly deprecatedAt: number; readonly sunsetAt: number; readonly documentation: string | undefined } | undefined
}

/** The options with defaults applied. */
export interface Settings {
  readonly title: string
  readonly description: string
  readonly contact: OpenapiOptions['contact']
  readonly license: OpenapiOptions['license']
  readonly publicUrl: string | undefined
  /** The versions, newest first. */
  readonly versions: readonly VersionToDescribe[]
  readonly routeConfig: Readonly<Record<string, unknown>>
  readonly parts: readonly ((route: DescribedRoute) => OperationParts | undefined)[]
  readonly ownSecuritySchemes: Readonly<Record<string, object>> | undefined
  readonly lint: 'error' | 'warning' | 'off'
  readonly routeLints: readonly RouteLint<LintedRoute>[]
  readonly waivers: Waivers
  readonly reference: string | false
  readonly now: () => number
}

/** Returns the options with defaults applied. Throws a `TypeError` with a one-line message when an option is invalid. */
export function resolveOptions(options: OpenapiOptions): Settings {
  requirePluginNames('openapi', options, {
    publicUrl: true,
    title: true,
    description: true,
    contact: { name: true, url: true, email: true },
    license: { name: true, url: true, identifier: true },
    versions: { '*': { status: true, deprecatedAt: true, sunsetAt: true, documentation: true, successor: true } },
    routeConfig: true,
    parts: true,
    securitySchemes: true,
    lint: true,
    routeLints: true,
    waivers: true,
    reference: true,
    now: true
  })
  const { publicUrl, lint = 'error', routeLints = [], waivers = {}, reference } = options
  originResolver({ publicUrl })
  if (!['error', 'warning', 'off'].includes(lint))
    throw new TypeError(`openapi: options.lint must be "error", "warning" or "off", but is "${lint}".`)
  if (typeof reference === 'string' && !/^\/.*[^/]$/.test(reference))
    throw new TypeError(`openapi: options.reference must be a path such as "/reference", or false for no page, but is "${reference}".`)
  requireWaivers('openapi: options.waivers', waivers, [...lintIds, ...routeLints.map(({ id }) => id)])
  return {
    title: options.title ?? 'API',
    description: options.description ?? 'An API that follows the Concordat conventions.',
    contact: options.contact,
    license: options.license,
    publicUrl,
    versions: readVersions(options.versions ?? { 1: {} }),
    routeConfig: { ...(options.routeConfig ?? { public: true, operational: true }), envelope: false },
    parts: options.parts ?? [],
    ownSecuritySchemes: options.securitySchemes,
    lint,
    routeLints,
    waivers,
    reference: reference ?? (process.env['NODE_ENV'] === 'production' ? false : '/reference'),
    now: options.now ?? (() => Date.now())
  }
}

function readVersions(table: Readonly<Record<number, DescribedVersion>>): readonly VersionToDescribe[] {
  const numbers = Object.keys(table)
  if (numbers.length === 0) throw new TypeError('openapi: options.versions is empty. Add at least one version, for example { 1: {} }.')
  const wrong = numbers.find((number) => !/^[1-9]\d*$/.test(number))
  if (wrong !== undefined)
    throw new TypeError(
      `openapi: options.versions contains the invalid key "${wrong}". Each key must be an integer of at least 1 (rule V1).`
    )
  return numbers
    .map(Number)
    .toSorted((a, b) => b - a)
    .map((number) => ({ number, name: `v${number}`, ending: endingOf(number, table[number] as DescribedVersion) }))
}

function endingOf(number: number, { deprecatedAt, sunsetAt, documentation }: DescribedVersion) {
  if (deprecatedAt === undefined || sunsetAt === undefined) return undefined
  const ending = { deprecatedAt: new Date(deprecatedAt).getTime(), sunsetAt: new Date(sunsetAt).getTime(), documentation }
  if (Number.isNaN(ending.deprecatedAt + ending.sunsetAt))
    throw new TypeError(`openapi: options.versions[${number}] has an invalid date. Set deprecatedAt and sunsetAt to valid dates.`)
  return ending
}
