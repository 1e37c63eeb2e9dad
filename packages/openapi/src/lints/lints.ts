import { hasEnded, isServiceWaiver, type RouteLint, type Waivers } from '@concordat/plugin-kit/findings'
import { describeOptions, type OptionsOf, value } from '@concordat/plugin-kit/options'
import type { OpenapiDocument } from '../document/document.ts'
import { requireStructure } from '../document/document-structure.ts'
import { lostReferences } from '../document/lost-references.ts'
import { reportLine } from '../document/report-line.ts'
import {
  type Lint,
  type Objections,
  type OperationSite,
  operationSites,
  type SchemaSite,
  type Site,
  schemaSites,
  waiversOf
} from './lint-sites.ts'
import { operationLints } from './operation-lints.ts'
import { schemaLints } from './schema-lints.ts'

/** An operation in the form of a Fastify route, for lints from other packages. */
interface LintedRoute {
  readonly method: string
  /** The path with parameters such as `:id`. */
  readonly url: string
  readonly schema: { readonly querystring: object; readonly headers: object }
}

/** A violation of a rule at a place in the document. */
interface Finding {
  /** The id of the rule. */
  readonly rule: string
  /** Where the problem is, for example `GET /v1/orders 200.data[].total` or `schema Order.total`. */
  readonly place: string
  readonly problem: string
  readonly remedy: string
}

const lintOptions = describeOptions('openapi', {
  /** Additional lints that check one route at a time, for example the `lints` of versioning. */
  routeLints: value<readonly RouteLint<LintedRoute>[]>({ default: [] }),
  /** Rules that do not apply to the document, by id, each with the reason. */
  waive: value<Waivers>({ default: {} })
})

/** Options of {@link lintDocument}. */
export interface LintOptions extends OptionsOf<typeof lintOptions> {}

// Of the document as a whole.
const referenceRule = 'V7'

/** The ids of the rules that this package checks. */
export const lintIds: readonly string[] = [...[...schemaLints, ...operationLints].map(({ id }) => id), referenceRule]

/**
 * Returns a finding for each violation of a rule in a document. A rule is waived by its id and a reason: in `x-waivers` of the document with a last
 * day, in the option `waive` for the whole document, or in `x-waivers` of an operation or a schema, for that object and everything in it.
 */
export function lintDocument(document: OpenapiDocument, options: LintOptions = {}): readonly Finding[] {
  const { routeLints, waive } = lintOptions.read(options)
  requireStructure(document, 'the document')
  const { waivers: own, findings: ended } = documentWaivers(document, waive)
  const waivers = { ...own, ...waive }
  const findings = new Map<string, Finding>()
  const waived = new Set<string>()
  const further = routeLints.map((lint): Lint<OperationSite> => ({ id: lint.id, check: (site) => objectionsOf(lint.check(routeOf(site))) }))
  const [operations, schemas] = [operationSites(document), schemaSites(document)]
  for (const site of operations) check([...operationLints, ...further], site)
  for (const site of schemas) check(schemaLints, site)
  // If an operation waives a rule for a schema, the waiver applies to all operations that use the schema.
  const left = [...findings].flatMap(([key, finding]) => (waived.has(key) ? [] : [finding]))
  const lost = Object.hasOwn(waivers, referenceRule) ? [] : lostReferences(document)
  return [...ended, ...left, ...lost.map(lostFinding), ...reasonless([...operations, ...schemas])]

  function check<Place extends Site>(lints: readonly Lint<Place>[], site: Place) {
    const { place } = site
    for (const { id: rule, check: objectionsTo } of lints)
      for (const [problem, remedy] of objectionsTo(site)) {
        const key = `${rule} ${place} ${problem}`
        if (Object.hasOwn(site.waivers, rule) || Object.hasOwn(waivers, rule)) waived.add(key)
        else findings.set(key, { rule, place, problem, remedy })
      }
  }
}

/** Returns the waivers of the document that hold, and a finding for each other. One that is also `given` holds in any case. */
function documentWaivers(document: OpenapiDocument, given: Waivers) {
  const waivers: Record<string, string> = {}
  const findings: Finding[] = []
  for (const [rule, waiver] of Object.entries(waiversOf(document))) {
    const found = (problem: string, remedy: string) => findings.push({ rule, place: 'the document', problem, remedy })
    if (Object.hasOwn(given, rule)) continue
    if (!isServiceWaiver(waiver))
      found('the rule is waived without a reason and a last day.', 'State both: { "reason": …, "until": "2027-06-30" }.')
    else if (hasEnded(waiver)) found(`the waiver ended on ${waiver.until}.`, 'Follow the rule, or set a later day.')
    else waivers[rule] = waiver.reason
  }
  return { waivers, findings }
}

function lostFinding({ reference, place }: ReturnType<typeof lostReferences>[number]): Finding {
  const problem = `the reference "${reference}" leads to nothing in the document.`
  return { rule: referenceRule, place, problem, remedy: 'Add its target to the document, or correct it.' }
}

/** Returns a human-readable report of the findings, one line each, with rule, place, problem and remedy. */
export function findingsText(findings: readonly Finding[]): string {
  if (findings.length === 0) return 'No findings.'
  const lines = findings.map(({ rule, place, problem, remedy }) => reportLine(`  ${rule} ${place}: ${problem} ${remedy}`))
  const count = findings.length === 1 ? '1 place breaks a rule' : `${findings.length} places break a rule`
  return `${count}. Fix each finding, or waive its rule by id with the reason.\n${lines.join('\n')}`
}

function objectionsOf(text: string | undefined): Objections {
  if (text === undefined) return []
  const [, problem = text, remedy = ''] = /^(.*?\.) (.*)$/s.exec(text) ?? []
  return [[problem, remedy]]
}

function routeOf({ method, path, parameters }: OperationSite): LintedRoute {
  const named = (where: string) => ({
    type: 'object',
    properties: Object.fromEntries(parameters.flatMap(({ in: place, name, schema = {} }) => (place === where ? [[name, schema]] : [])))
  })
  return {
    method: method.toUpperCase(),
    url: path.replaceAll(/\{([^}]*)\}/g, ':$1'),
    schema: { querystring: named('query'), headers: named('header') }
  }
}

function reasonless(sites: readonly (OperationSite | SchemaSite)[]): readonly Finding[] {
  const found = new Map<string, Finding>()
  for (const site of sites)
    for (const [rule, reason] of Object.entries(waiversOf('schema' in site ? site.schema : site.operation)))
      if (typeof reason !== 'string' || reason.trim() === '') {
        const { place } = site
        found.set(`${rule} ${place}`, { rule, place, problem: 'the rule is waived without a reason.', remedy: 'State the reason.' })
      }
  return [...found.values()]
}
