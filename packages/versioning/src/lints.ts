import { checkAtStart, onEachRoute, type RouteLint, reportBrokenRules, requireWaivers } from '@concordat/plugin-kit/findings'
import { contribute, contributions, waiveForService } from '@concordat/plugin-kit/wiring'
import type { FastifyInstance, RouteOptions } from 'fastify'
import pluralize from 'pluralize'
import type { Settings } from './options.ts'
import type { Places } from './places.ts'
import { readRoutePath, type Segment, wordsOf } from './route-path.ts'
import { domainSegments, knownShortWords, operationParameters, searchWords, technologyWords, verbs, versionNames } from './words.ts'

/** Route properties that the lint rules check. Fastify's route options have all of them. */
export interface LintedRoute {
  readonly method: string | readonly string[]
  /** Full path, including prefixes. */
  readonly url: string
  /** Path as it was registered, without prefixes. */
  readonly routePath?: string | undefined
  readonly schema?: { readonly querystring?: unknown; readonly query?: unknown; readonly headers?: unknown } | undefined
  readonly constraints?: Readonly<Record<string, unknown>> | undefined
}

/** Rules about paths, methods and versions that are checked when a route is registered. */
export const lints: readonly RouteLint<LintedRoute>[] = [
  { id: 'P1', check: collectionsAndItems },
  { id: 'P2', check: lowercasePluralNouns },
  { id: 'P3', check: noVerbsNoTechnology },
  { id: 'P5', check: actionsAreNouns },
  { id: 'M10', check: postIsNoRead },
  { id: 'V1', check: plainIntegerVersion },
  { id: 'V2', check: versionOnlyInPath }
]

/** A route as Fastify reports it: `routePath` is its URL without prefixes. */
type ReportedRoute = RouteOptions & { readonly routePath?: string }

/** Adds the rules to those of the service, which routes can waive, and waives the rules of the option for all of them. */
export function addRules(app: FastifyInstance, { waivers }: Settings): void {
  contribute(
    app,
    'rules',
    lints.map(({ id }) => id)
  )
  waiveForService(app, 'versioning: options.waivers', waivers)
}

/** Checks each route when it is registered, and remembers its path in `registeredPaths`. */
export function lintRoutes(
  instance: FastifyInstance,
  places: Places,
  belongsToApi: (app: FastifyInstance, route: RouteOptions) => boolean,
  registeredPaths: Set<string>
): void {
  onEachRoute(instance, lintRoute)

  function lintRoute(this: FastifyInstance, route: ReportedRoute) {
    // OPTIONS is not an operation on a resource. Fastify adds a HEAD route for each GET route.
    if (route.method === 'OPTIONS' || (route.method === 'HEAD' && registeredPaths.has(route.url))) return
    registeredPaths.add(route.url)
    if (!belongsToApi(this, route)) return lintPath(this, route, places)
    lintWaivers(this, route)
    lintRules(this, route)
    if (route.routePath === '') lintRules(this, { ...route, url: `${route.url}/`, routePath: '/' }, isAdded)
    return undefined
  }

  // Fastify does not report the path with a slash that it adds for "/" below a prefix, except for HEAD.
  function isAdded({ method, url, constraints = {} }: RouteOptions) {
    const { ignoreTrailingSlash, routerOptions } = instance.initialConfig
    if (ignoreTrailingSlash || routerOptions?.ignoreTrailingSlash) return false
    return [method].flat().some((one) => instance.hasRoute({ method: one, url, constraints }))
  }
}

/** Checks the waivers of a route of the API at the start, when any hook can have added them. */
function lintWaivers(app: FastifyInstance, route: ReportedRoute): void {
  checkAtStart(app, checkWaivers, route)

  function checkWaivers() {
    const known = contributions(app, 'rules').flat()
    requireWaivers(`versioning: config.waivers of ${nameOf(route)}`, route.config?.waivers ?? {}, known)
  }
}

/** Reports each rule that a route of the API breaks, with its fix, unless it does not exist at the start. Operational routes are not checked. */
function lintRules(app: FastifyInstance, route: ReportedRoute, exists?: (route: RouteOptions) => boolean): void {
  if (route.config?.operational === true) return
  const broken = lints.flatMap(({ id, check }) => {
    const problem = check(route)
    return problem === undefined ? [] : [{ id, problem }]
  })
  const errorOf = (remaining: Readonly<typeof broken>) => {
    const problems = remaining.map(({ id, problem }) => `${id}: ${problem}`)
    return new Error(
      `versioning: ${nameOf(route)} breaks the path rules. ${problems.join(' ')} Or waive a rule with config.waivers and the reason.`
    )
  }
  reportBrokenRules(app, route, broken, errorOf, exists)
}

/**
 * Reports a route outside the versions whose path is below a version: its responses would have no deprecation headers and it would never be retired.
 * Other routes outside the versions are ordinary Fastify routes.
 */
function lintPath(app: FastifyInstance, route: RouteOptions, places: Places): void {
  if (places.find(route.url) === undefined) return
  const line = `versioning: ${nameOf(route)} has the path of a version, but is not registered through app.apiVersion(n, …). Register it there, or waive P1 with config.waivers and the reason.`
  reportBrokenRules(app, route, [{ id: 'P1', byRouteOnly: true }], () => new Error(line))
}

// Fastify reports the path with a slash that it adds for `/` below a prefix only for the HEAD route of a GET route.
function nameOf({ method, url, routePath }: ReportedRoute) {
  return `${method === 'HEAD' && routePath === '/' ? 'GET' : String(method)} ${url}`
}

function collectionsAndItems({ url, routePath }: LintedRoute) {
  const { version, segments } = readRoutePath(url)
  if (version === undefined) {
    return 'it is outside every version. Register it in app.apiVersion(n, …), or set config.operational if it is not part of the API.'
  }
  if (segments.length === 0) return 'it does not name a collection. Add a plural noun after the version.'
  return firstProblem(segments, ({ text, kind }, index) => {
    if (kind === 'wildcard') return 'it must not have a wildcard. Give each resource its own path.'
    if (kind === 'empty' && routePath === '/')
      return `it must not end with a slash, which "/" below a prefix adds. Write '' in place of '/', or set prefixTrailingSlash: 'no-slash' on the route.`
    if (kind === 'empty') return 'it must not have an empty segment. Remove the double or trailing slash.'
    if (kind === 'mixed') return `"${text}" is not a single plain parameter. Give each parameter its own segment.`
    if (index % 2 === 0 && kind === 'parameter') return `"${text}" does not follow a collection. Put a plural noun before it.`
    if (index % 2 === 1 && kind === 'static') return `"${text}" follows a collection without an id between them. Use <nouns>/:id/<nouns>.`
    return undefined
  })
}

function lowercasePluralNouns(route: LintedRoute) {
  return firstProblem(staticSegments(route.url), ({ text }) => {
    if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text)) return `"${text}" is not in lower case with dashes. Write "${wordsOf(text).join('-')}".`
    const words = wordsOf(text)
    const last = words.at(-1) as string
    // A verb has no plural: rule P3 reports it.
    if (pluralize.isPlural(last) || verbs.has(words[0] as string)) return undefined
    const plural = `write "${text.slice(0, -last.length)}${pluralize.plural(last)}"`
    return mayBeAction(route, text)
      ? `"${text}" is not a plural noun. For a resource, ${plural}; for an action, name what it creates, for example "cancellations".`
      : `"${text}" is not a plural. ${plural.replace('w', 'W')}.`
  })
}

function mayBeAction(route: LintedRoute, text: string) {
  return methodsOf(route).includes('POST') && route.url.includes(':') && route.url.endsWith(`/${text}`)
}

function noVerbsNoTechnology({ url, schema }: LintedRoute) {
  const operation = queryNames(schema).find((name) => operationParameters.has(name.toLowerCase()))
  if (operation !== undefined) return `the query parameter "${operation}" chooses an operation. Use an HTTP method on a separate resource.`
  return firstProblem(readRoutePath(url).segments, ({ text, kind }) => {
    if (text.includes('::')) return `"${text}" appends an action to a resource. Use POST on a noun below it, for example "cancellations".`
    if (text.includes('.')) return `"${text}" must not have a file extension, because the Accept header selects the format. Remove it.`
    return kind === 'static' ? wrongWord(text) : undefined
  })
}

function wrongWord(text: string) {
  const words = wordsOf(text)
  if (verbs.has(words[0] as string)) return `"${text}" starts with a verb. Use the HTTP method for the action, and name the resource.`
  const technology = domainSegments.has(text) ? undefined : words.find((word) => technologyWords.has(word))
  if (technology !== undefined) return `"${text}" contains the technology word "${technology}". Name the resource, not its implementation.`
  const cryptic = words.find((word) => /^[a-z]+$/.test(word) && !knownShortWords.has(word) && (word.length < 3 || !/[aeiouy]/.test(word)))
  return cryptic === undefined ? undefined : `"${text}" contains the abbreviation "${cryptic}". Write out the word.`
}

function actionsAreNouns(route: LintedRoute) {
  if (!methodsOf(route).includes('POST') || readRoutePath(route.url).segments.at(-1)?.kind !== 'parameter') return undefined
  return 'it is a POST on an item. Make the action a noun below the item and POST to it, for example "/orders/:id/cancellations".'
}

function postIsNoRead(route: LintedRoute) {
  const last = methodsOf(route).includes('POST') ? readRoutePath(route.url).segments.at(-1) : undefined
  if (last?.kind !== 'static' || !searchWords.has(wordsOf(last.text).at(-1) as string)) return undefined
  return 'it uses POST to read data. Make it a GET with filters. For a search too complex for a URI, document it and waive this rule with the reason.'
}

function plainIntegerVersion({ url }: LintedRoute) {
  const { version } = readRoutePath(url)
  if (version === undefined || /^v[1-9]\d*$/.test(version)) return undefined
  return `"${version}" is not a valid version. Use /v and an integer of at least 1, without leading zeros or decimal points.`
}

function versionOnlyInPath({ schema, constraints }: LintedRoute) {
  if (constraints?.version !== undefined)
    return 'the constraint "version" selects a version by header. Only the path may select it: use app.apiVersion(n, …).'
  const name = [...queryNames(schema), ...propertyNames(schema?.headers)].find((name) =>
    versionNames.has(name.toLowerCase().replace(/[^a-z]/g, ''))
  )
  return name === undefined
    ? undefined
    : `"${name}" selects a version by parameter or header. Only the path may select it: remove "${name}".`
}

// Fastify accepts `query` as an alias of `querystring`.
function queryNames(schema: LintedRoute['schema']) {
  return [...propertyNames(schema?.querystring), ...propertyNames(schema?.query)]
}

function staticSegments(url: string) {
  return readRoutePath(url).segments.filter(({ kind }) => kind === 'static')
}

function firstProblem(segments: readonly Segment[], problemOf: (segment: Segment, index: number) => string | undefined) {
  for (const [index, segment] of segments.entries()) {
    const problem = problemOf(segment, index)
    if (problem !== undefined) return problem
  }
  return undefined
}

function methodsOf({ method }: LintedRoute): readonly string[] {
  return typeof method === 'string' ? [method] : method
}

// The property names of a JSON Schema, without those behind references.
function propertyNames(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { properties, allOf, anyOf, oneOf } = schema as Readonly<Record<string, unknown>>
  const own = typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
  return [...own, ...[allOf, anyOf, oneOf].flatMap((parts) => (Array.isArray(parts) ? parts.flatMap(propertyNames) : []))]
}
