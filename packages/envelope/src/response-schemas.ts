import { isObject, type JsonSchema, requireJsonSchema } from '@concordat/plugin-kit/json-schema'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { wraps } from './enveloped.ts'

/** The responses that a route declares, read from its response schemas. */
export interface DeclaredResponses {
  /** The response schemas, with the schema of each resource wrapped in the envelope; schemas of responses without a JSON body are unchanged. */
  readonly response: Readonly<Record<string, unknown>>
  /** The original schemas of the enveloped responses, by status code, for example `200` or `2xx`. */
  readonly resources: ReadonlyMap<string, JsonSchema>
  /** Media types other than JSON that the route declares for its responses. */
  readonly otherTypes: ReadonlySet<string>
}

/** The maximum number of links that a handler can add to a response. */
export const maxAddedLinks = 90
// With those of the plugins: `self`, and those of a page.
const maxLinks = 100

const text = { type: 'string' }

// Every member is required: fast-json-stringify writes required members first, and the timestamp must be last in the body.
const link = {
  type: 'object',
  required: ['rel', 'href', 'method'],
  properties: { rel: text, href: text, method: text }
}

const success = /^2(\d\d|xx)$/i
const bodiless = new Set(['204', '205'])
// What a schema says about the response itself, for the description, and not about its body.
const responseKeys = new Set(['headers', 'x-response-description'])

/**
 * Returns the responses that a route declares, with the schemas of their resources wrapped in the envelope. Throws a `TypeError` if the route declares
 * neither a success nor a redirection, declares an error, whose schema would only widen the type that a handler may return, or produces a media type
 * without declaring it. `meta` contains the schemas of further members of `_meta`.
 */
export function declareResponses(
  { method, url, config, schema: { response } = {} }: RouteOptions,
  meta?: Readonly<Record<string, JsonSchema>>
): DeclaredResponses {
  const route = `${String(method)} ${url}`
  const declared = Object.entries((response ?? {}) as Record<string, JsonSchema>)
  if (!declared.some(([status]) => success.test(status) || status.startsWith('3'))) {
    throw new TypeError(
      `envelope: ${route} must declare a success response. Add schema.response with a 2xx status, or with a 3xx status if it only redirects, or set config.envelope to false.`
    )
  }
  const wrong = declared.find(([status]) => !/^[1-3]/.test(status))
  if (wrong)
    throw new TypeError(
      `envelope: ${route} must not declare a schema for "${wrong[0]}", because all errors have the same shape. Remove it.`
    )
  const resources = new Map<string, JsonSchema>()
  const otherTypes = new Set<string>()
  const wrapped = declared.map(([status, schema]) => [
    status,
    success.test(status) && !bodiless.has(status) ? wrap(status, schema) : schema
  ])
  requireProduced()
  return { response: Object.fromEntries(wrapped), resources, otherTypes }

  // Declared by content-negotiation, whose plugin may be missing.
  function requireProduced() {
    const { produces } = { produces: [], ...config } as { readonly produces: unknown }
    const types = Array.isArray(produces) && resources.size + otherTypes.size > 0 ? produces : []
    const undeclared = types.map(String).find((type) => !isJson(type) && !otherTypes.has(type.toLowerCase()))
    if (undeclared !== undefined)
      throw new TypeError(
        `envelope: ${route} has "${undeclared}" in config.produces, but no response schema for it, so a response of this type would be a 500. Add schema.response[200].content["${undeclared}"], for example { schema: { type: 'string' } }, beside that of application/json, or set config.envelope to false.`
      )
  }

  function wrap(status: string, schema: JsonSchema): JsonSchema {
    const content = schema['content'] as Record<string, { schema: JsonSchema }> | undefined
    if (content === undefined || 'type' in schema) return envelop(status, schema)
    const types = Object.entries(content).map(([type, entry]) => {
      if (isJson(type)) return [type, { ...entry, schema: envelop(status, entry.schema) }]
      otherTypes.add(type.toLowerCase())
      return [type, entry]
    })
    return { ...schema, content: Object.fromEntries(types) }
  }

  function envelop(status: string, schema: JsonSchema): JsonSchema {
    const { ofResponse = [], ofResource = [] } = Object.groupBy(Object.entries(schema), ([key]) =>
      responseKeys.has(key) ? 'ofResponse' : 'ofResource'
    )
    const resource = ofResponse.length === 0 ? schema : Object.fromEntries(ofResource)
    resources.set(status.toLowerCase(), resource)
    return { ...envelopeSchema(schemaInEnvelope(resource), meta), ...Object.fromEntries(ofResponse) }
  }
}

function isJson(type: string) {
  return /[/+]json\b/i.test(type)
}

/** Throws a `TypeError` for a route in the envelope with a response schema of a library such as Zod. */
export function requireJsonResponses(app: FastifyInstance, route: RouteOptions): void {
  if (!wraps(app, route)) return
  const { method, url, schema: { response } = {} } = route
  for (const [status, schema] of Object.entries((response ?? {}) as Record<string, JsonSchema>)) {
    const content = Object.values((schema['content'] ?? {}) as Record<string, { schema: JsonSchema } | undefined>)
    for (const one of [schema, ...content.map((entry) => entry?.schema)]) {
      const place = `envelope: ${String(method)} ${url} schema.response.${status}`
      requireJsonSchema(one, place, 'Register @concordat/standard-schema before this plugin.')
    }
  }
}

// The envelope around a resource (rules E1, E2, K1).
function envelopeSchema(data: JsonSchema, furtherMeta: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
  const meta = { version: text, ...furtherMeta, timestamp: text }
  return {
    type: 'object',
    required: ['data', '_links', '_meta'],
    properties: {
      data,
      _links: { type: 'array', maxItems: maxLinks, items: link },
      _meta: { type: 'object', required: Object.keys(meta), properties: meta }
    }
  }
}

// References of a resource to itself, such as `#/definitions/Node`, lead to its place in the envelope.
function schemaInEnvelope(schema: JsonSchema): JsonSchema {
  return /"\$ref":"#["/]/.test(JSON.stringify(schema)) ? (moved(schema) as JsonSchema) : schema
}

function moved(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(moved)
  if (!isObject(node)) return node
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string' && /^#(?:\/|$)/.test(value) ? `#/properties/data${value.slice(1)}` : moved(value)
    ])
  )
}
