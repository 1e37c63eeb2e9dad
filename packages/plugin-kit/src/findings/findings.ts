import type { FastifyInstance, RouteOptions } from 'fastify'
import type { ServiceWaivers } from './waivers.ts'

type RouteHook = (this: FastifyInstance, route: RouteOptions) => void

/** A fault that stops the start, and the rules that could be waived instead of fixing it. */
interface Finding {
  readonly route: string
  readonly error: Error
  readonly rules: readonly string[]
}

interface Check {
  readonly route: RouteOptions | undefined
  /** Whether the finding makes all others about the route consequences. */
  readonly isFirst: boolean
  /** Throws the fault, or returns the broken rules. */
  readonly run: () => Pick<Finding, 'error' | 'rules'> | undefined
}

/** A rule that a route breaks. */
interface BrokenRule {
  readonly id: string
  /** `true`: the whole service cannot waive it, because its responses would be wrong. */
  readonly byRouteOnly?: true | undefined
}

interface Checks {
  readonly found: Check[]
  readonly unreadable: WeakSet<RouteOptions>
  /** The rules that the whole service waives. */
  readonly waivers: Record<string, ServiceWaivers[string]>
  /** The GET routes, and the routes with a finding, by path. */
  readonly gets: Map<string, RouteOptions>
  readonly failed: Set<string>
}

const maxFindings = 200

// Registered, so that two copies of this module find the same checks.
const checksKey: unique symbol = Symbol.for('concordat.startChecks') as never

/**
 * Adds an `onRoute` hook. An error that it throws is a finding, and an `AggregateError` is several: the start stops when the server is ready, before the
 * `onReady` hooks that are added later, with one error that lists the findings about all routes. Throw in a hook of `app.addHook` only what makes it
 * impossible to continue.
 */
export function onEachRoute(app: FastifyInstance, hook: RouteHook): void {
  app.addHook('onRoute', collected(app, hook, false))
}

/**
 * Adds an `onRoute` hook like `onEachRoute`, for what the hooks after it rely on, such as a schema that can be read. They do not run for a route for
 * which it throws, because their findings would be consequences.
 */
export function readEachRoute(app: FastifyInstance, hook: RouteHook): void {
  app.addHook('onRoute', collected(app, hook, true))
}

/** Runs a check when the server is ready, before the hooks of plugins. An error that it throws is a finding, as in `onEachRoute`. */
export function checkAtStart(app: FastifyInstance, check: () => void, route?: RouteOptions): void {
  findingsOf(app).found.push({ route, isFirst: false, run })

  function run() {
    check()
    return undefined
  }
}

/** Adds rules to those that the whole service waives, which no route of it has to follow. */
export function waiveAtStart(app: FastifyInstance, waivers: ServiceWaivers): void {
  Object.assign(findingsOf(app).waivers, waivers)
}

/** Returns the rules that the whole service waives, once all plugins are registered. */
export function serviceWaiversOf(app: FastifyInstance): ServiceWaivers {
  return findingsOf(app).waivers
}

/**
 * Reports the rules that a route breaks, except those that it or the whole service waives when the server is ready, so that any hook can add waivers. `errorOf` returns the
 * error of those that remain. `exists` returns whether there is such a route then, for a route that Fastify adds without reporting it.
 */
export function reportBrokenRules<Rule extends BrokenRule>(
  app: FastifyInstance,
  route: RouteOptions,
  broken: readonly Rule[],
  errorOf: (remaining: readonly Rule[]) => Error,
  exists: (route: RouteOptions) => boolean = () => true
): void {
  const { found, gets, waivers } = findingsOf(app)
  if (broken.length > 0) found.push({ route, isFirst: false, run: requireWaived })

  function requireWaived() {
    // Fastify adds a HEAD route for each GET route, with the config that the GET route had before all hooks.
    const ofGet = route.method === 'HEAD' ? gets.get(route.url)?.config?.waivers : undefined
    const ofRoute = { ...ofGet, ...route.config?.waivers }
    const isWaived = ({ id, byRouteOnly }: Rule) => Object.hasOwn(ofRoute, id) || (!byRouteOnly && Object.hasOwn(waivers, id))
    const remaining = broken.filter((rule) => !isWaived(rule))
    return remaining.length === 0 || !exists(route) ? undefined : { error: errorOf(remaining), rules: remaining.map(({ id }) => id) }
  }
}

function collected(app: FastifyInstance, hook: RouteHook, isFirst: boolean): RouteHook {
  const checks = findingsOf(app)
  return function collect(route) {
    if (checks.unreadable.has(route) || isCopyOfFailed(this, route)) return
    if ([route.method].flat().includes('GET')) checks.gets.set(route.url, route)
    try {
      hook.call(this, route)
    } catch (error) {
      const errors: readonly Error[] = error instanceof AggregateError ? error.errors : [error]
      for (const one of errors) report(this, route, one, isFirst)
    }
  }
}

function report(app: FastifyInstance, route: RouteOptions, error: Error, isFirst: boolean): void {
  const checks = findingsOf(app)
  if (isCopyOfFailed(app, route)) return
  checks.found.push({ route, isFirst, run: () => ({ error, rules: [] }) })
  checks.failed.add(route.url)
  if (isFirst) checks.unreadable.add(route)
  removeSchema(app, route)
}

// Fastify adds a HEAD route for each GET route.
function isCopyOfFailed(app: FastifyInstance, route: RouteOptions) {
  const { gets, failed } = findingsOf(app)
  if (route.method !== 'HEAD' || !failed.has(route.url) || !gets.has(route.url)) return false
  removeSchema(app, route)
  return true
}

// After the other hooks. Fastify would compile it before the server is ready, and could report the same fault in its own words.
function removeSchema(app: FastifyInstance, route: RouteOptions) {
  app.after(() => {
    delete route.schema
  })
}

function findingsOf(app: FastifyInstance): Checks {
  const root: FastifyInstance & { [checksKey]?: Checks } = rootOf(app)
  if (root[checksKey] === undefined) {
    root.decorate(checksKey, { found: [], unreadable: new WeakSet(), waivers: {}, gets: new Map(), failed: new Set() } satisfies Checks)
    root.addHook('onReady', async () => requireNoFindings((root as Required<typeof root>)[checksKey]))
  }
  return (root as Required<typeof root>)[checksKey]
}

function requireNoFindings({ found, unreadable }: Checks): void {
  const findings = new Map<string, Finding>()
  for (const { route, isFirst, run } of found.splice(0)) {
    if (route !== undefined && !isFirst && unreadable.has(route)) continue
    const finding = runCheck(route, run)
    // The same as of the GET route.
    const line = finding?.error.message.replace(`HEAD ${route?.url}`, `GET ${route?.url}`)
    if (finding !== undefined && !findings.has(line as string)) findings.set(line as string, finding)
  }
  const [first, ...others] = byRoute([...findings.values()])
  if (first !== undefined) throw others.length === 0 ? first.error : new Error(textOf([first, ...others]))
}

function runCheck(route: RouteOptions | undefined, run: Check['run']): Finding | undefined {
  const name = route === undefined ? '' : `${String(route.method)} ${route.url}`
  try {
    const broken = run()
    return broken && { route: name, ...broken }
  } catch (error) {
    return { route: name, error: error as Error, rules: [] }
  }
}

function byRoute(findings: readonly Finding[]): readonly Finding[] {
  const places = new Map<string, number>()
  for (const { route } of findings) places.set(route, places.get(route) ?? places.size)
  return findings.toSorted((one, other) => (places.get(one.route) as number) - (places.get(other.route) as number))
}

function textOf(findings: readonly Finding[]): string {
  const listed = findings.slice(0, maxFindings)
  const lines = listed.map(lineOf)
  if (findings.length > maxFindings) lines.push(`  … and ${findings.length - maxFindings} more, which are listed when these are fixed.`)
  return [`The service does not start: ${findings.length} findings.`, ...lines, ...waiversOf(listed)].join('\n')
}

function lineOf({ route, error: { message } }: Finding) {
  return `  ${message}${message.includes(route.slice(route.indexOf(' ') + 1)) ? '' : ` (${route})`}`
}

// A hook, because the routes are often in many files. An empty reason stops the start.
function waiversOf(findings: readonly Finding[]): readonly string[] {
  const rules = new Map<string, Set<string>>()
  for (const { route, rules: ids } of findings) {
    if (ids.length === 0) continue
    const known = rules.get(route) ?? new Set()
    rules.set(route, known)
    for (const id of ids) known.add(id)
  }
  if (rules.size === 0) return []
  const waivers = [...rules].map(([route, ids]) => `  ${JSON.stringify(route)}: { ${[...ids].map((id) => `${id}: reason`).join(', ')} }`)
  return [
    'To waive a rule for the whole service until a day, see the option waivers of the preset, of versioning or of openapi.',
    'To waive the rules for these routes, write the reason, and add this hook before the routes:',
    '',
    "const reason = ''",
    'const waivers = {',
    waivers.join(',\n'),
    '}',
    "app.addHook('onRoute', (route) => {",
    '  for (const [name, waived] of Object.entries(waivers))',
    '    if (name === `${route.method} ${route.url}`) route.config = { ...route.config, waivers: { ...waived, ...route.config?.waivers } }',
    '})'
  ]
}

function rootOf(app: FastifyInstance): FastifyInstance {
  const parent = Object.getPrototypeOf(app) as FastifyInstance
  return 'printRoutes' in parent ? rootOf(parent) : app
}
