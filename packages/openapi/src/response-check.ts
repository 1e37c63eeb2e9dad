import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { isObject, type JsonSchema } from '@concordat/plugin-kit/json-schema'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { projectionMark } from './describe/operation-draft.ts'
import { follow, type Header, isJson, mapValues, type OpenapiDocument, type Operation, type Response } from './document/document.ts'
import { operationFinder } from './document/operation-finder.ts'
import { mapSubschemas } from './document/schema-parts.ts'

/** A response to check, with the method and the URL of its request. A response of Fastify's `inject` has all of these values. */
export interface CheckedResponse {
  readonly method: string
  /** The path, with or without the query. */
  readonly url: string
  readonly status: number
  /** The response headers by lower-case name. */
  readonly headers: Readonly<Record<string, unknown>>
  /** The body as it was sent; it is compressed if `content-encoding` is `gzip` or `br`. */
  readonly body: Buffer
}

/** Returns a sentence for each difference between a response and its description, or an empty list. */
export type ResponseChecker = (received: CheckedResponse) => string[]

// Headers that HTTP needs to transfer a message, and headers that only restrict browsers. Neither is part of an operation.
const ofEveryMessage = new Set(
  `connection content-encoding content-length content-type date keep-alive transfer-encoding
  content-security-policy cross-origin-resource-policy referrer-policy strict-transport-security x-content-type-options x-frame-options`.split(
    /\s+/
  )
)
const base = 'concordat:document'
const errorResponse = {
  type: 'object',
  required: ['error', '_links', '_meta'],
  properties: { error: { $ref: '#/components/schemas/ErrorDetail' }, _links: {}, _meta: {} }
}

/**
 * Creates a function that checks whether a response matches a document: status code, media type, headers, and the body, which must not
 * contain anything that is not described. Where no operation matches, only errors in the shape of the document and 204 to OPTIONS are
 * accepted. A response to HEAD must match that to GET, without the body.
 *
 * @example
 * const check = responseChecker((await app.inject('/v1/openapi')).json())
 * const { statusCode, headers, rawPayload } = await app.inject('/v1/orders')
 * t.strictSame(check({ method: 'GET', url: '/v1/orders', status: statusCode, headers, body: rawPayload }), [])
 */
export function responseChecker(document: OpenapiDocument): ResponseChecker {
  const operationOf = operationFinder(document)
  const requireSchema = schemaValidator(document)
  const requireWhole = schemaValidator(document, wholeResources(document))
  const requirePart = schemaValidator(partialDocument(document), partial)

  return (received) => {
    const { method, status } = received
    const path = received.url.replace(/\?.*$/s, '')
    const operation = operationOf(method, received.url)
    const problems = operation === undefined ? outsideProblems(received) : responseProblems(received, operation)
    return problems.map((problem) => `${method} ${path} ${status}: ${problem}`)
  }

  function outsideProblems({ method, status, headers, body }: CheckedResponse) {
    if (method === 'OPTIONS' && status === 204) return []
    if (status < 400) return ['no operation describes this response.']
    if (document.components?.schemas?.['ErrorDetail'] === undefined || body.length === 0) return []
    return isJson(String(headers['content-type']))
      ? requireSchema(errorResponse, JSON.parse(body.toString()))
      : ['it is an error, but it is not JSON.']
  }

  function responseProblems(received: CheckedResponse, { responses = {} }: Operation) {
    const { [received.status]: exact, [`${String(received.status)[0]}XX`]: range, default: any } = responses
    const response = follow<Response>(document, exact ?? range ?? any)
    if (response !== undefined) return [...headerProblems(received, response), ...bodyProblems(received, response)]
    const [, code] = /"code":"([A-Z_]+)"/.exec(received.body.toString()) ?? []
    return ['the status code is not described.', ...(code === undefined ? [] : [`its code is ${code}.`])]
  }

  function headerProblems({ headers }: CheckedResponse, response: Response) {
    const described = new Map(
      Object.entries(response.headers ?? {}).map(([name, header]) => [name.toLowerCase(), follow<Header>(document, header)])
    )
    const missing = [...described].filter(([name, header]) => header?.required && !(name in headers))
    const sent = Object.entries(headers).filter(([name, value]) => value !== undefined && !ofEveryMessage.has(name))
    return [
      ...missing.map(([name]) => `the header ${name} is missing.`),
      ...sent.flatMap(([name, value]) => {
        if (!described.has(name)) return [`the header ${name} is not described.`]
        const { schema = {} } = described.get(name) ?? {}
        return requireSchema(schema, schema['type'] === 'integer' ? Number(value) : String(value)).map((one) => `header ${name}: ${one}`)
      })
    ]
  }

  function bodyProblems({ method, url, headers, body: sent }: CheckedResponse, { content }: Response) {
    const body = decoded(sent, headers['content-encoding'])
    const isIncomplete = headers['idempotency-status'] === 'incomplete'
    if (isIncomplete && body.length === 0) return []
    if (method === 'HEAD' || content === undefined) return body.length === 0 ? [] : ['it has a body, but none is described.']
    const mediaType = String(headers['content-type']).replace(/;.*$/s, '')
    const described = content[mediaType]
    if (described === undefined) return [`the media type ${mediaType} is not described.`]
    if (described.schema === undefined || !isJson(mediaType)) return []
    const require = isIncomplete ? requirePart : /[?&](?:fields|include)=/.test(url) ? requireSchema : requireWhole
    return require(described.schema, JSON.parse(body.toString()))
  }
}

function decoded(body: Buffer, coding: unknown) {
  if (body.length === 0) return body
  if (coding === 'br') return brotliDecompressSync(body)
  return coding === 'gzip' ? gunzipSync(body) : body
}

// Without `fields` and `include`, a resource must be whole, so only the first alternative of a resource that can be projected remains.
function wholeResources(document: OpenapiDocument): (schema: JsonSchema) => JsonSchema {
  return function whole(schema) {
    const branches = schema['anyOf']
    const isProjectable = Array.isArray(branches) && branches.some((one) => follow<JsonSchema>(document, one)?.[projectionMark] === true)
    return isProjectable ? (branches[0] as JsonSchema) : mapSubschemas(schema, whole)
  }
}

// A replay that is incomplete may lack any member.
function partialDocument({ components, ...document }: OpenapiDocument): OpenapiDocument {
  return { ...document, components: { ...components, schemas: mapValues(components?.schemas ?? {}, partial) } }
}

function partial({ required: _required, oneOf, ...schema }: JsonSchema): JsonSchema {
  return mapSubschemas({ ...schema, ...(Array.isArray(oneOf) && { anyOf: oneOf }) }, partial)
}

// A single instance has all components, so that each is compiled once. Each schema is compiled when it is first needed.
function schemaValidator(
  document: OpenapiDocument,
  prepare = (schema: JsonSchema) => schema
): (schema: JsonSchema, value: unknown) => string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false })
  addFormats.default(ajv)
  const schemas = document.components?.schemas ?? {}
  const closed = schemaCloser(schemas)
  ajv.addSchema({ $id: base, components: { schemas: mapValues(schemas, closed) } })
  const compiled = new WeakMap<JsonSchema, ValidateFunction>()
  return (schema, value) => {
    let validate = compiled.get(schema)
    if (validate === undefined) compiled.set(schema, (validate = ajv.compile(closed(prepare(schema)))))
    if (validate(value)) return []
    return (validate.errors ?? []).map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}.`)
  }
}

const unions = ['allOf', 'anyOf', 'oneOf'] as const

// Creates a function that returns a closed copy of a schema, which rejects objects with undescribed properties.
function schemaCloser(components: Readonly<Record<string, JsonSchema>>): (schema: JsonSchema) => JsonSchema {
  const prefix = '#/components/schemas/'

  function closed(schema: JsonSchema): JsonSchema {
    const reference = schema['$ref']
    if (typeof reference === 'string') return { ...schema, $ref: base + reference }
    const isOpen = !isObject(schema['properties']) && !unions.some((key) => Array.isArray(schema[key]))
    const inner = open(schema)
    return isOpen || schema['additionalProperties'] !== undefined ? inner : { ...inner, unevaluatedProperties: false }
  }

  // The branches of a union stay open, because only together do they describe the object.
  function open(schema: JsonSchema): JsonSchema {
    const branches = unions.flatMap((key) => (Array.isArray(schema[key]) ? [[key, schema[key].map(branch)] as const] : []))
    return { ...mapSubschemas(schema, closed), ...Object.fromEntries(branches) }
  }

  function branch(schema: JsonSchema): JsonSchema {
    const reference = schema['$ref']
    const target = typeof reference === 'string' ? components[reference.slice(prefix.length)] : undefined
    return open(target ?? schema)
  }

  return closed
}
