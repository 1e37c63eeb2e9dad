import pluralize from 'pluralize'
import { readRoutePath, type Segment, wordsOf } from './route-path.ts'
import { propertyNames } from './schema-properties.ts'
import { domainSegments, knownShortWords, operationParameters, searchWords, technologyWords, verbs, versionNames } from './words.ts'

/** What a lint reads of a route: Fastify's route options have it all. */
export interface LintedRoute {
  readonly method: string | readonly string[]
  /** The whole path, prefixes included. */
  readonly url: string
  readonly schema?: { readonly querystring?: unknown; readonly query?: unknown; readonly headers?: unknown } | undefined
  readonly constraints?: Readonly<Record<string, unknown>> | undefined
}

/** One rule about routes. */
export interface Lint {
  /** The rule's id, by which a route may waive it. */
  readonly id: string
  /** Says what is wrong and how to mend it; `undefined` when nothing is. */
  readonly check: (route: LintedRoute) => string | undefined
}

/** The rules about paths, methods and versions that a route is checked against when it is registered. */
export const lints: readonly Lint[] = [
  { id: 'P1', check: collectionsAndItems },
  { id: 'P2', check: lowercasePluralNouns },
  { id: 'P3', check: noVerbsNoTechnology },
  { id: 'P5', check: actionsAreNouns },
  { id: 'M10', check: postIsNoRead },
  { id: 'V1', check: plainIntegerVersion },
  { id: 'V2', check: versionOnlyInPath }
]

function collectionsAndItems({ url }: LintedRoute) {
  const { version, segments } = readRoutePath(url)
  if (version === undefined) {
    return 'it stands outside every version. Register it in app.apiVersion(n, …), or set config.operational if it is no part of the API.'
  }
  if (segments.length === 0) return 'it names no collection. Add a plural noun after the version.'
  return firstProblem(segments, ({ text, kind }, index) => {
    if (kind === 'wildcard') return 'it has a wildcard. Name each resource with a path of its own.'
    if (kind === 'empty') return 'it has an empty segment. Remove the doubled or trailing slash.'
    if (kind === 'mixed') return `"${text}" is more than one plain parameter. Give each parameter a segment of its own.`
    if (index % 2 === 0 && kind === 'parameter') return `"${text}" follows no collection. Put a plural noun before it.`
    if (index % 2 === 1 && kind === 'static') return `"${text}" follows a collection without an id between them. Use <nouns>/:id/<nouns>.`
    return undefined
  })
}

function lowercasePluralNouns({ url }: LintedRoute) {
  return firstProblem(staticSegments(url), ({ text }) => {
    if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text)) return `"${text}" is not in lower case with dashes. Write "${wordsOf(text).join('-')}".`
    const last = wordsOf(text).at(-1) as string
    if (pluralize.isPlural(last)) return undefined
    return `"${text}" is no plural. Write "${text.slice(0, -last.length)}${pluralize.plural(last)}".`
  })
}

function noVerbsNoTechnology({ url, schema }: LintedRoute) {
  const operation = queryNames(schema).find((name) => operationParameters.has(name.toLowerCase()))
  if (operation !== undefined) return `the query parameter "${operation}" chooses an operation. Make it a method on a resource of its own.`
  return firstProblem(readRoutePath(url).segments, ({ text, kind }) => {
    if (text.includes('::')) return `"${text}" hangs an action on a resource. Make it a POST on a noun below it, as "cancellations".`
    if (text.includes('.')) return `"${text}" has a file extension. Remove it: the Accept header chooses the format.`
    return kind === 'static' ? wrongWord(text) : undefined
  })
}

function wrongWord(text: string) {
  const words = wordsOf(text)
  if (verbs.has(words[0] as string)) return `"${text}" begins with a verb. Let the method say it, and name the resource.`
  const technology = domainSegments.has(text) ? undefined : words.find((word) => technologyWords.has(word))
  if (technology !== undefined) return `"${text}" has the technology word "${technology}". Say what the resource is, not how it is made.`
  const cryptic = words.find((word) => /^[a-z]+$/.test(word) && !knownShortWords.has(word) && (word.length < 3 || !/[aeiouy]/.test(word)))
  return cryptic === undefined ? undefined : `"${text}" has the abbreviation "${cryptic}". Write the word out.`
}

function actionsAreNouns(route: LintedRoute) {
  if (!methodsOf(route).includes('POST') || readRoutePath(route.url).segments.at(-1)?.kind !== 'parameter') return undefined
  return 'it is a POST on an item. Make the action a noun below the item and POST to that, as "/orders/:id/cancellations".'
}

function postIsNoRead(route: LintedRoute) {
  const last = methodsOf(route).includes('POST') ? readRoutePath(route.url).segments.at(-1) : undefined
  if (last?.kind !== 'static' || !searchWords.has(wordsOf(last.text).at(-1) as string)) return undefined
  return 'it reads by POST. Make it a GET with filters; a search too complex for a URI is documented, and waives this rule with its reason.'
}

function plainIntegerVersion({ url }: LintedRoute) {
  const { version } = readRoutePath(url)
  if (version === undefined || /^v[1-9]\d*$/.test(version)) return undefined
  return `"${version}" is no version. Write /v and a plain integer from 1 on, without zeros before it and without points.`
}

function versionOnlyInPath({ schema, constraints }: LintedRoute) {
  if (constraints?.version !== undefined)
    return 'the constraint "version" chooses a version by header. The path alone names it: use app.apiVersion(n, …).'
  const name = [...queryNames(schema), ...propertyNames(schema?.headers)].find((name) =>
    versionNames.has(name.toLowerCase().replace(/[^a-z]/g, ''))
  )
  return name === undefined ? undefined : `"${name}" passes a version by parameter or header. The path alone names it: remove "${name}".`
}

// Fastify takes `query` for `querystring`.
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
