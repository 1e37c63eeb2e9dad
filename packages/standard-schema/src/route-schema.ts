import { isObject, isStandardSchema, type JsonSchema, jsonSchemaOf, type SchemaSide, type StandardSchema } from '@concordat/json-schema'
import type { FastifySchema, RouteOptions } from 'fastify'

/** The schemas of a route by media type; `''` for a schema of all types. */
type SchemasByType = ReadonlyMap<string, StandardSchema>

/** The schemas of a part of a request. */
export interface RequestCheck {
  readonly part: 'params' | 'body' | 'query' | 'headers'
  readonly schemas: SchemasByType
}

/** The schemas of the responses of a route, by status: `200`, `2xx` or `default`. */
export type ResponseChecks = ReadonlyMap<string, SchemasByType>

/** What a route declares with Standard Schemas. */
interface RouteChecks {
  /** The schema of the route, with JSON Schemas in place of Standard Schemas. */
  readonly schema: FastifySchema
  readonly requests: readonly RequestCheck[]
  readonly responses: ResponseChecks
}

// In the order in which Fastify validates them.
const parts = ['params', 'body', 'querystring', 'query', 'headers'] as const

/** Returns the name of a route, for messages. */
export function nameOf({ method, url }: Pick<RouteOptions, 'method' | 'url'>): string {
  return `${String(method)} ${url}`
}

/** Returns the schema of a route as JSON Schemas, and the Standard Schemas that it contains. Throws a `TypeError` for one without a JSON Schema. */
export function routeChecks(route: Pick<RouteOptions, 'method' | 'url' | 'schema'>): RouteChecks {
  const place = `standard-schema: ${nameOf(route)} schema.`
  const given = (route.schema ?? {}) as Readonly<Record<string, unknown>>
  const requests: RequestCheck[] = []
  const schema: Record<string, unknown> = { ...given }
  for (const part of parts) {
    const [converted, schemas] = convert(given[part], 'input', place + part)
    if (schemas.size === 0) continue
    schema[part] = part === 'headers' ? withLowerCase(converted as JsonSchema, place + part) : converted
    requests.push({ part: part === 'querystring' ? 'query' : part, schemas })
  }
  const responses = new Map<string, SchemasByType>()
  if (isObject(given['response'])) {
    const declared = Object.entries(given['response']).map(([status, response]) => {
      const [converted, schemas] = convert(response, 'output', `${place}response.${status}`)
      if (schemas.size > 0) responses.set(status.toLowerCase(), schemas)
      return [status, converted]
    })
    schema['response'] = Object.fromEntries(declared)
  }
  return { schema, requests, responses }
}

// A part has one schema, or one for each media type.
function convert(given: unknown, side: SchemaSide, place: string): [unknown, SchemasByType] {
  if (isStandardSchema(given)) return [jsonSchemaOf(given, side, place), new Map([['', given]])]
  const schemas = new Map<string, StandardSchema>()
  if (!isObject(given) || !isObject(given['content'])) return [given, schemas]
  const content = Object.entries(given['content']).map(([type, entry]) => {
    if (!isObject(entry) || !isStandardSchema(entry['schema'])) return [type, entry]
    schemas.set(type.toLowerCase(), entry['schema'])
    return [type, { ...entry, schema: jsonSchemaOf(entry['schema'], side, `${place}.content["${type}"]`) }]
  })
  return [{ ...given, content: Object.fromEntries(content) }, schemas]
}

// Node.js writes the names of headers in lower case, so the library would not find any other name.
function withLowerCase(schema: JsonSchema, place: string) {
  const name = Object.keys(schema['properties'] ?? {}).find((header) => header !== header.toLowerCase())
  if (name === undefined) return schema
  throw new TypeError(`${place} has the header "${name}". Write it as "${name.toLowerCase()}", as Node.js does.`)
}
