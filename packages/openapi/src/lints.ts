import { describeOptions, type OptionsOf, value } from '@concordat/plugin-options'
import type { RouteLint, Waivers } from '@concordat/route-lints'
import type { OpenapiDocument } from './document.ts'
import { type OperationSite, operationSites, type SchemaSite, schemaSites, type UncheckedWaivers, waiversOf } from './lint-sites.ts'
import { operationLints } from './operation-lints.ts'
import { type Objection, schemaLints } from './schema-lints.ts'

/** An operation in the form of a Fastify route, for lints from other packages. */
export interface LintedRoute {
  readonly method: string
  /** The path with parameters such as `:id`. */
  readonly url: string
  readonly schema: { readonly querystring: object; readonly headers: object }
}

/** A violation of a rule at a place in the document. */
export interface Finding {
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
  waivers: value<Waivers>({ default: {} })
})

/** Options of {@link lintDocument}. */
export interface LintOptions extends OptionsOf<typeof lintOptions> {}

/** The ids of the rules that this package checks. */
export const lintIds: readonly string[] = [...schemaLints, ...operationLints].map(({ id }) => id)

/**
 * Returns a finding for each violation of a rule in a document. A rule is waived by its id and a reason: in the option `waivers` for the whole
 * document, or in `x-waivers` of the document, a path, an operation or a schema, for that object and everything in it.
 */
export function lintDocument(document: OpenapiDocument, options: LintOptions = {}): readonly Finding[] {
  const { routeLints, waivers } = lintOptions.read(options)
  const findings = new Map<string, Finding>()
  const waived = new Set<string>()
  const holds = (id: string, local: UncheckedWaivers, key: string) => {
    if (!Object.hasOwn(local, id) && !Object.hasOwn(waivers, id)) return true
    waived.add(key)
    return false
  }
  function check(rule: string, place: string, local: UncheckedWaivers, objections: readonly Objection[]) {
    for (const objection of objections) {
      if (objection === undefined) continue
      const [problem, remedy] = objection
      const key = `${rule} ${place} ${problem}`
      if (holds(rule, local, key)) findings.set(key, { rule, place, problem, remedy })
    }
  }
  const operations = operationSites(document)
  const schemas = schemaSites(document)
  for (const site of operations) {
    for (const lint of operationLints) check(lint.id, site.place, site.waivers, lint.check(site))
    for (const lint of routeLints) check(lint.id, site.place, site.waivers, [ofText(lint.check(routeOf(site)))])
  }
  for (const site of schemas) {
    for (const lint of schemaLints) check(lint.id, site.place, site.waivers, [lint.check(site)])
  }
  // If an operation waives a rule for a schema, the waiver applies to all operations that use the schema.
  const left = [...findings].flatMap(([key, finding]) => (waived.has(key) ? [] : [finding]))
  return [...left, ...reasonless(document, operations, schemas)]
}

/** Returns a human-readable report of the findings, one line each, with rule, place, problem and remedy. */
export function findingsText(findings: readonly Finding[]): string {
  if (findings.length === 0) return 'No findings.'
  const lines = findings.map(({ rule, place, problem, remedy }) => `  ${rule} ${place}: ${problem} ${remedy}`)
  const count = findings.length === 1 ? '1 place breaks a rule' : `${findings.length} places break a rule`
  return `${count}. Fix each finding, or waive its rule by id with the reason.\n${lines.join('\n')}`
}

function ofText(text: string | undefined): Objection {
  if (text === undefined) return undefined
  const [, problem = text, remedy = ''] = /^(.*?\.) (.*)$/s.exec(text) ?? []
  return [problem, remedy]
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

function reasonless(document: OpenapiDocument, operations: readonly OperationSite[], schemas: readonly SchemaSite[]): readonly Finding[] {
  const places = [
    ['the document', waiversOf(document)] as const,
    ...operations.map(({ place, operation }) => [place, waiversOf(operation)] as const),
    ...schemas.map(({ place, schema }) => [place, waiversOf(schema)] as const)
  ]
  const found = places.flatMap(([place, waivers]) =>
    Object.entries(waivers).flatMap(([rule, reason]): [string, Finding][] =>
      typeof reason === 'string' && reason.trim() !== ''
        ? []
        : [[`${rule} ${place}`, { rule, place, problem: 'the rule is waived without a reason.', remedy: 'State the reason.' }]]
    )
  )
  return [...new Map(found).values()]
}
