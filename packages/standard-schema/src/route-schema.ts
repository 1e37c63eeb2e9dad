import { isObject, isStandardSchema, type JsonSchema, jsonSchemaOf, type StandardSchema } from '@concordat/plugin-kit/json-schema'
import type { FastifySchema, RouteOptions } from 'fastify'
import { convertText } from './text-parts.ts'

/** A schema of a library, and the JSON Schema of the side that the service receives or sends. */
interface ConvertedSchema {
  readonly library: StandardSchema
  readonly json: JsonSchema
}

/** The schemas of a route by media type; `''` for a schema of all types. */
type SchemasByType = ReadonlyMap<string, ConvertedSchema>

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
  const ofBody = [route.method].flat().every((method) => method === 'PATCH') ? convertPatch : convertInput
  const requests: RequestCheck[] = []
  const schema: Record<string, unknown> = { ...given }
  for (const part of parts) {
    const [converted, schemas] = convert(given[part], place + part, part === 'body' ? ofBody : convertText)
    if (schemas.size === 0) continue
    schema[part] = part === 'headers' ? withLowerCase(converted as JsonSchema, place + part) : converted
    requests.push({ part: part === 'querystring' ? 'query' : part, schemas })
  }
  const responses = new Map<string, SchemasByType>()
  if (isObject(given['response'])) {
    const declared = Object.entries(given['response']).map(([status, response]) => {
      const [converted, schemas] = convert(response, `${place}response.${status}`, convertOutput)
      if (schemas.size > 0) responses.set(status.toLowerCase(), schemas)
      return [status, converted]
    })
    schema['response'] = Object.fromEntries(declared)
  }
  return { schema, requests, responses }
}

type Convert = (schema: StandardSchema, place: string) => JsonSchema

const convertInput: Convert = (schema, place) => jsonSchemaOf(schema, 'input', place)
// JSON has no symbols, so the defaults, which a PATCH does not get, are not described.
const convertPatch: Convert = (schema, place) => JSON.parse(JSON.stringify(convertInput(schema, place)))
const convertOutput: Convert = (schema, place) => jsonSchemaOf(schema, 'output', place)

// A part has one schema, or one for each media type.
function convert(given: unknown, place: string, jsonOf: Convert): [unknown, SchemasByType] {
  const schemas = new Map<string, ConvertedSchema>()
  const added = (type: string, library: StandardSchema, itsPlace: string) => {
    const json = jsonOf(library, itsPlace)
    schemas.set(type.toLowerCase(), { library, json })
    return json
  }
  if (isStandardSchema(given)) return [added('', given, place), schemas]
  if (!isObject(given) || !isObject(given['content'])) return [given, schemas]
  const content = Object.entries(given['content']).map(([type, entry]) => {
    if (!isObject(entry) || !isStandardSchema(entry['schema'])) return [type, entry]
    return [type, { ...entry, schema: added(type, entry['schema'], `${place}.content["${type}"]`) }]
  })
  return [{ ...given, content: Object.fromEntries(content) }, schemas]
}

// Node.js writes the names of headers in lower case, so the library would not find any other name.
function withLowerCase(schema: JsonSchema, place: string) {
  const name = Object.keys(schema['properties'] ?? {}).find((header) => header !== header.toLowerCase())
  if (name === undefined) return schema
  throw new TypeError(`${place} has the header "${name}". Write it as "${name.toLowerCase()}", as Node.js does.`)
}
