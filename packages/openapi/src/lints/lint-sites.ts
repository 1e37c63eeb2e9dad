import { isObject, type JsonSchema } from '@concordat/plugin-kit/json-schema'
import {
  type Content,
  follow,
  isJson,
  type OpenapiDocument,
  operationsOf,
  type PlacedOperation,
  type RequestBody,
  type Response
} from '../document/document.ts'
import { subschemas } from '../document/schema-parts.ts'

/** The problems that a lint finds, each with its remedy. */
export type Objections = Iterable<readonly [problem: string, remedy: string]>

/** A lint that checks a rule on each operation or schema. */
export interface Lint<Site> {
  readonly id: string
  readonly check: (site: Site) => Objections
}

/** Where a lint checks: the document, the name of the place, and the reasons for waiving rules, by rule id. Nothing has checked the reasons. */
export interface Site {
  readonly document: OpenapiDocument
  readonly place: string
  readonly waivers: Readonly<Record<string, unknown>>
}

export interface OperationSite extends PlacedOperation, Site {}

export interface SchemaSite extends Site {
  readonly schema: JsonSchema
  /** The name of the property or parameter that the schema describes. */
  readonly name: string | undefined
}

/** A schema that is left to visit, with the waivers of what contains it. */
interface Visit extends Pick<SchemaSite, 'schema' | 'place' | 'name'> {
  readonly outer: Site['waivers']
}

/** Returns the operations of a document, each with the context that lints need. */
export function operationSites(document: OpenapiDocument): readonly OperationSite[] {
  return operationsOf(document).map((placed) => ({
    ...placed,
    document,
    place: `${placed.method.toUpperCase()} ${placed.path}`,
    waivers: waiversOf(placed.operation)
  }))
}

/**
 * Returns the schemas of a document and all their subschemas, each with the context that lints need. A component that operations refer to is
 * listed once for each set of waivers that applies to it. Its place is its name.
 */
export function schemaSites(document: OpenapiDocument): readonly SchemaSite[] {
  const sites: SchemaSite[] = []
  const components = new Set<string>()
  for (const { operation, parameters, place, waivers } of operationSites(document)) {
    const visit = visitor(waivers)
    for (const { name, in: where, schema } of parameters) {
      // The name of a header follows the rules of HTTP.
      // Of a filter such as `customer.createdAt[gte]`, the name of the field.
      const field = where === 'query' || where === 'path' ? name.replace(/\[.*$/, '').replace(/^\w+\.(?=\w+$)/, '') : undefined
      if (schema !== undefined) visit(schema, `${place} ${where} ${name}`, field)
    }
    const body = follow<RequestBody>(document, operation.requestBody)
    for (const schema of schemasOf(body?.content)) visit(schema, `${place} body`)
    for (const [status, given] of Object.entries(operation.responses ?? {}))
      for (const schema of schemasOf(follow<Response>(document, given)?.content)) visit(schema, `${place} ${status}`)
  }
  const rest = visitor({})
  const reached = new Set(sites.map(({ schema }) => schema))
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) if (!reached.has(schema)) rest(schema, `schema ${name}`)
  return sites

  // Adds a schema and its subschemas to the sites. Does not visit a component again with the same waivers.
  function visitor(inherited: Site['waivers']) {
    const seen = new Set<JsonSchema>()
    return function visit(first: JsonSchema, firstPlace: string, firstName?: string): void {
      // Without recursion: references can form a chain of any length.
      const left: Visit[] = [{ schema: first, place: firstPlace, name: firstName, outer: inherited }]
      for (let next = left.pop(); next !== undefined; next = left.pop()) {
        const { schema, place, name, outer } = next
        const waivers = { ...outer, ...waiversOf(schema) }
        sites.push({ schema, document, place, name, waivers })
        const reference = schema['$ref']
        if (typeof reference === 'string') {
          // The name belongs to the property that refers. The target is checked separately.
          const target = follow<JsonSchema>(document, schema)
          const component = /^#\/components\/schemas\/([^/]+)$/.exec(reference)?.[1]
          const visited = `${component} ${JSON.stringify(waivers)}`
          if (target === undefined || (component !== undefined && components.has(visited))) continue
          components.add(visited)
          left.push({ schema: target, place: component === undefined ? place : `schema ${component}`, name: undefined, outer: waivers })
          continue
        }
        if (seen.has(schema)) continue
        seen.add(schema)
        for (const [path, inner] of subschemas(schema).toReversed()) {
          const member = /^properties\/(.*)$/s.exec(path)?.[1]
          const suffix = path === 'items' ? '[]' : ''
          left.push({ schema: inner, place: place + (member === undefined ? suffix : `.${member}`), name: member, outer: waivers })
        }
      }
    }
  }
}

function schemasOf(content: Content = {}): readonly JsonSchema[] {
  return Object.entries(content).flatMap(([type, { schema }]) => (isJson(type) && isObject(schema) ? [schema] : []))
}

/** Returns the waivers of an operation or a schema. */
export function waiversOf(value: object): Site['waivers'] {
  const { 'x-waivers': waivers } = value as { readonly 'x-waivers'?: unknown }
  return isObject(waivers) ? waivers : {}
}
