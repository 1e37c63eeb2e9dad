import { type OriginOptions, originResolver } from '@concordat/links'
import type { DescribedRoute } from './described-route.ts'
import type { Header, Parameter, PathItem, Response } from './document.ts'
import { lintIds, type RouteLint } from './lints.ts'

/** An error that operations can give: an entry of a catalogue fits. */
export interface DescribedError {
  readonly code: string
  readonly statusCode: number
  readonly message: Readonly<Record<string, string>> & { readonly en: string }
  /** One sentence: how the caller mends it. */
  readonly remedy: string
  /** The answer lists the fields in `error.errors`, as every validation does. */
  readonly validation?: true
}

/** The limits that callers of a route meet. */
export interface DescribedLimits {
  /** As how many requests one is counted. */
  readonly cost: number
  readonly policies: readonly {
    readonly name: string
    readonly scope: string
    readonly limit: number
    readonly windowSeconds: number
    readonly tier?: string | undefined
  }[]
}

/** What somebody else knows about the operation of a route. */
export interface OperationParts {
  readonly parameters?: readonly Parameter[] | undefined
  /** Headers of answers, by name; `statuses` limits one to some of them (`2XX`, `201`), all by default. */
  readonly headers?: Readonly<Record<string, Header & { readonly statuses?: readonly string[] }>> | undefined
  /** Answers that no schema declares, as a 304. */
  readonly responses?: Readonly<Record<string, Response>> | undefined
  /** Sentences for the description. */
  readonly notes?: readonly string[] | undefined
  /** Members that begin with `x-`. */
  readonly extensions?: Readonly<Record<`x-${string}`, unknown>> | undefined
}

/** A version of the API and, once it is known, its end. */
export interface DescribedVersion {
  readonly status?: string | undefined
  readonly deprecatedAt?: string | Date | undefined
  readonly sunsetAt?: string | Date | undefined
  /** Where the migration notes are. */
  readonly documentation?: string | undefined
}

/** What `@concordat/openapi` can be told. */
export interface OpenapiOptions extends Pick<OriginOptions, 'publicUrl'> {
  /** What the API is called. @default 'API' */
  readonly title?: string | undefined
  /** What it is for, in Markdown. @default 'An API by the conventions of Concordat.' */
  readonly description?: string | undefined
  /** Whom to ask. */
  readonly contact?: { readonly name?: string; readonly url?: string; readonly email?: string } | undefined
  readonly license?: { readonly name: string; readonly url?: string; readonly identifier?: string } | undefined
  /**
   * The versions of the API by number, as `@concordat/versioning` takes them. Each has its document at `/v<n>/openapi`.
   * @default { 1: {} }
   */
  readonly versions?: Readonly<Record<number, DescribedVersion>> | undefined
  /**
   * `config` of the routes that this package adds. `envelope: false` is always part of it.
   * @default { public: true, operational: true }
   */
  readonly routeConfig?: Readonly<Record<string, unknown>> | undefined
  /**
   * Every error that the service can answer with, as the entries of the catalogue.
   * @default [] – the documents have no errors
   */
  readonly errors?: readonly DescribedError[] | undefined
  /** The codes that an operation can give beside those of `config.openapi.errors`. @default () => [] */
  readonly errorsOf?: ((route: DescribedRoute) => readonly string[]) | undefined
  /** The rate limits of a route; undefined for one that is not counted. @default () => undefined */
  readonly limitsOf?: ((route: DescribedRoute) => DescribedLimits | undefined) | undefined
  /**
   * What `config.cache` of a GET is that does not say. @default undefined – nothing is told of how its answers may be kept
   */
  readonly defaultCache?: unknown
  /** What others know about operations. @default [] */
  readonly parts?: readonly ((route: DescribedRoute) => OperationParts | undefined)[] | undefined
  /**
   * The events that a version sends to who subscribed, by type, as OpenAPI describes them: with a `post` each, whose body has the
   * schema and an example. Asked for once all routes are there; schemas hold no references.
   * @default () => undefined – no events
   */
  readonly webhooks?: ((version: number) => Readonly<Record<string, PathItem>> | undefined) | undefined
  /**
   * How callers say who they are: the schemes of OpenAPI by name. A route with `config.permissions` can be called by any of them.
   * @default { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } }
   */
  readonly securitySchemes?: Readonly<Record<string, object>> | undefined
  /**
   * What a finding of the lints does: stops the start, is logged as a warning, or is not looked for.
   * @default 'error'
   */
  readonly lint?: 'error' | 'warning' | 'off' | undefined
  /** Lints of single routes beside those of this package, as other packages export them. @default [] */
  readonly routeLints?: readonly RouteLint[] | undefined
  /** Rules that do not hold for this API, by id, each with the reason. @default {} */
  readonly waivers?: Readonly<Record<string, string>> | undefined
  /**
   * The path of the page that shows the documents and tries operations out; `false` for none.
   * @default '/reference', and none where NODE_ENV is "production"
   */
  readonly reference?: `/${string}` | false | undefined
  /** The clock, in milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
}

/** A version as the documents tell it. Times in milliseconds since 1970. */
export interface VersionToDescribe {
  readonly number: number
  readonly name: string
  readonly ending: { readonly deprecatedAt: number; readonly sunsetAt: number; readonly documentation: string | undefined } | undefined
}

/** The options as the plugin works with them. */
export interface Settings {
  readonly title: string
  readonly description: string
  readonly contact: OpenapiOptions['contact']
  readonly license: OpenapiOptions['license']
  readonly publicUrl: string | undefined
  /** Newest first. */
  readonly versions: readonly VersionToDescribe[]
  readonly routeConfig: Readonly<Record<string, unknown>>
  readonly errors: ReadonlyMap<string, DescribedError>
  readonly errorsOf: (route: DescribedRoute) => readonly string[]
  readonly limitsOf: (route: DescribedRoute) => DescribedLimits | undefined
  readonly defaultCache: unknown
  readonly parts: readonly ((route: DescribedRoute) => OperationParts | undefined)[]
  readonly webhooks: (version: number) => Readonly<Record<string, PathItem>> | undefined
  readonly securitySchemes: Readonly<Record<string, object>>
  readonly lint: 'error' | 'warning' | 'off'
  readonly routeLints: readonly RouteLint[]
  readonly waivers: Readonly<Record<string, string>>
  readonly reference: string | false
  readonly now: () => number
}

/** Fills in the defaults. Throws a `TypeError` with one line for what can't work. */
export function resolveOptions(options: OpenapiOptions): Settings {
  const { publicUrl, lint = 'error', routeLints = [], waivers = {}, reference } = options
  originResolver({ publicUrl })
  if (!['error', 'warning', 'off'].includes(lint)) throw new TypeError(`lint is "${lint}". Give "error", "warning" or "off".`)
  if (typeof reference === 'string' && !/^\/.*[^/]$/.test(reference))
    throw new TypeError(`reference is "${reference}". Write a path as "/reference", or false for no page.`)
  requireWaivers(waivers, [...lintIds, ...routeLints.map(({ id }) => id)])
  return {
    title: options.title ?? 'API',
    description: options.description ?? 'An API by the conventions of Concordat.',
    contact: options.contact,
    license: options.license,
    publicUrl,
    versions: readVersions(options.versions ?? { 1: {} }),
    routeConfig: { ...(options.routeConfig ?? { public: true, operational: true }), envelope: false },
    errors: new Map((options.errors ?? []).map((error) => [error.code, error])),
    errorsOf: options.errorsOf ?? (() => []),
    limitsOf: options.limitsOf ?? (() => undefined),
    defaultCache: options.defaultCache,
    parts: options.parts ?? [],
    webhooks: options.webhooks ?? (() => undefined),
    securitySchemes: options.securitySchemes ?? { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    lint,
    routeLints,
    waivers,
    reference: reference ?? (process.env['NODE_ENV'] === 'production' ? false : '/reference'),
    now: options.now ?? Date.now
  }
}

function readVersions(table: Readonly<Record<number, DescribedVersion>>): readonly VersionToDescribe[] {
  const numbers = Object.keys(table)
  if (numbers.length === 0) throw new TypeError('versions is empty. Name at least one version, as { 1: {} }.')
  const wrong = numbers.find((number) => !/^[1-9]\d*$/.test(number))
  if (wrong !== undefined) throw new TypeError(`versions has the key "${wrong}". A version is a plain integer from 1 on (rule V1).`)
  return numbers
    .map(Number)
    .toSorted((a, b) => b - a)
    .map((number) => ({ number, name: `v${number}`, ending: endingOf(number, table[number] as DescribedVersion) }))
}

function endingOf(number: number, { deprecatedAt, sunsetAt, documentation }: DescribedVersion) {
  if (deprecatedAt === undefined || sunsetAt === undefined) return undefined
  const ending = { deprecatedAt: new Date(deprecatedAt).getTime(), sunsetAt: new Date(sunsetAt).getTime(), documentation }
  if (Number.isNaN(ending.deprecatedAt + ending.sunsetAt)) throw new TypeError(`versions[${number}] has a date that is none.`)
  return ending
}

function requireWaivers(waivers: Readonly<Record<string, unknown>>, known: readonly string[]) {
  for (const [id, reason] of Object.entries(waivers)) {
    if (!known.includes(id)) throw new TypeError(`waivers has "${id}", which no lint checks. Waive one of ${known.join(', ')}.`)
    if (typeof reason !== 'string' || reason.trim() === '') throw new TypeError(`waivers has ${id} without a reason. Write why.`)
  }
}
