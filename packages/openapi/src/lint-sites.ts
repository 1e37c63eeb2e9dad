import { isObject, type JsonSchema } from '@concordat/json-schema'
import {
  follow,
  isJson,
  type MediaType,
  type OpenapiDocument,
  operationsOf,
  type PlacedOperation,
  type RequestBody,
  type Response
} from './document.ts'
import { subschemas } from './schema-parts.ts'

/** The value of `x-waivers` in a document: the reasons for waiving rules, by rule id. Nothing has checked that the reasons are texts. */
export type UncheckedWaivers = Readonly<Record<string, unknown>>

/** An operation with the context that a lint needs: the document, the place and the waivers. */
export interface OperationSite extends PlacedOperation {
  readonly document: OpenapiDocument
  readonly place: string
  readonly waivers: UncheckedWaivers
}

/** A schema with the context that a lint needs: the document, the place, the name and the waivers. */
export interface SchemaSite {
  readonly schema: JsonSchema
  readonly document: OpenapiDocument
  readonly place: string
  /** The name of the property or parameter that the schema describes. */
  readonly name: string | undefined
  readonly waivers: UncheckedWaivers
}

/** Returns the operations of a document, each with the context that lints need. */
export function operationSites(document: OpenapiDocument): readonly OperationSite[] {
  return operationsOf(document).map((placed) => ({
    ...placed,
    document,
    place: `${placed.method.toUpperCase()} ${placed.path}`,
    waivers: { ...waiversOf(document), ...waiversOf(document.paths?.[placed.path]), ...waiversOf(placed.operation) }
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
    const visit = visitor(document, waivers, sites, components)
    for (const { name, in: where, schema } of parameters) {
      // The name of a header follows the rules of HTTP.
      const field = where === 'query' || where === 'path' ? name.replace(/\[.*$/, '') : undefined
      if (schema !== undefined) visit(schema, `${place} ${where} ${name}`, field)
    }
    const body = follow<RequestBody>(document, operation.requestBody)
    for (const schema of schemasOf(body?.content)) visit(schema, `${place} body`, undefined)
    for (const [status, given] of Object.entries(operation.responses ?? {})) {
      for (const schema of schemasOf(follow<Response>(document, given)?.content)) visit(schema, `${place} ${status}`, undefined)
    }
  }
  const rest = visitor(document, waiversOf(document), sites, components)
  const reached = new Set(sites.map(({ schema }) => schema))
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
    if (!reached.has(schema)) rest(schema, componentPlace(name), undefined)
  }
  return sites
}

function schemasOf(content: Readonly<Record<string, MediaType>> = {}): readonly JsonSchema[] {
  return Object.entries(content).flatMap(([type, { schema }]) => (isJson(type) && isObject(schema) ? [schema] : []))
}

/** Creates a function that adds a schema and its subschemas to `sites`. Does not visit a component again with the same waivers. */
function visitor(document: OpenapiDocument, inherited: UncheckedWaivers, sites: SchemaSite[], components: Set<string>) {
  const seen = new Set<JsonSchema>()
  return function visit(schema: JsonSchema, place: string, name: string | undefined, waivers = inherited): void {
    const reference = schema['$ref']
    if (typeof reference === 'string') {
      const target = follow<JsonSchema>(document, schema)
      const component = /^#\/components\/schemas\/([^/]+)$/.exec(reference)?.[1]
      // The name belongs to the property that refers. The target is checked separately.
      sites.push({ schema, document, place, name, waivers })
      const visited = `${component} ${JSON.stringify(waivers)}`
      if (target === undefined || (component !== undefined && components.has(visited))) return
      components.add(visited)
      visit(target, component === undefined ? place : componentPlace(component), undefined, waivers)
      return
    }
    const own = { ...waivers, ...waiversOf(schema) }
    sites.push({ schema, document, place, name, waivers: own })
    if (seen.has(schema)) return
    seen.add(schema)
    for (const [path, inner] of subschemas(schema)) {
      const member = /^properties\/(.*)$/s.exec(path)?.[1]
      visit(inner, `${place}${suffixOf(path, member)}`, member, own)
    }
  }
}

function suffixOf(path: string, member: string | undefined) {
  if (member !== undefined) return `.${member}`
  return path === 'items' ? '[]' : ''
}

function componentPlace(name: string) {
  return `schema ${name}`
}

/** Returns the waivers of an object in a document. */
export function waiversOf(value: unknown): UncheckedWaivers {
  const waivers = isObject(value) ? value['x-waivers'] : undefined
  return isObject(waivers) ? waivers : {}
}
