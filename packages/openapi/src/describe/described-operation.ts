import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import { type DescribedRoute, methodsOf, routeName } from '../document/described-route.ts'
import {
  type Header,
  isJson,
  jsonSchemaOf,
  mapValues,
  type Operation,
  type Parameter,
  type RequestBody,
  type Response
} from '../document/document.ts'
import { propertiesOf, requiredOf } from '../document/schema-parts.ts'
import { nounsOf, operationNames } from '../document/words.ts'
import { exampleRoot } from '../examples/operation-examples.ts'
import type { OperationParts, VersionToDescribe } from '../options.ts'
import { errorResponses } from './error-responses.ts'
import { partsOf } from './operation-parts.ts'
import { hasProblems } from './problem-documents.ts'
import type { DescribedError, DocumentSettings } from './published-facts.ts'
import type { SchemaPublisher } from './published-schema.ts'
import { knownHeaders, references } from './response-headers.ts'

/** An operation as the schemas of its route describe it, with the route, the method in lower case, and the path with its parameters in braces. */
interface OperationDraft {
  readonly operation: Operation
  readonly route: DescribedRoute
  readonly method: string
  readonly path: string
}

type Responses = Readonly<Record<string, Response>>

/** A complete operation, before shared parts are moved to the components. */
interface DescribedOperation {
  readonly operation: Operation & { readonly operationId: string; readonly responses: Responses }
  readonly errors: Responses
  /** The verb of the operation, for example `list`. */
  readonly verb: string
  /** The headers that the responses of the operation refer to, by name. */
  readonly headers: Readonly<Record<string, Header>>
}

/** Completes a drafted operation with details from the config of its route and from the options. */
export function describeOperation(
  { operation, route, method, path }: OperationDraft,
  resolve: SchemaPublisher['resolve'],
  version: VersionToDescribe,
  settings: DocumentSettings,
  ownErrors: ReadonlySet<string>
): DescribedOperation {
  const { ending } = version
  const parts = partsOf(route, version, settings)
  const errors = errorResponses(
    errorsOf(route, settings),
    version.name,
    exampleRoot(settings, version),
    ownErrors,
    hasProblems(route, settings)
  )
  const { operationId, summary, description, tags, parameters = [], requestBody: _body, responses, ...rest } = operation
  const declared: Responses = Object.assign({}, responses, ...parts.map((part) => part.responses))
  const names = operationNames(method, path, isList({ operation, route, method, path }, resolve))
  const body = withFiles(requestBodyOf(operation, route), parts, resolve)
  const notes = [description, endingNote(version), ...parts.flatMap((part) => part.notes ?? [])].filter((note) => note !== undefined)
  const waivers = route.config?.waivers ?? {}
  return {
    operation: {
      operationId: operationId ?? names.operationId,
      summary: summary ?? names.summary,
      description: notes.length === 0 ? (summary ?? names.summary) : notes.join('\n\n'),
      tags: tags ?? nounsOf(path).slice(0, 1),
      ...(ending !== undefined && Date.now() >= ending.deprecatedAt && { deprecated: true }),
      parameters: [...(parameters as readonly Parameter[]), ...parts.flatMap((part) => part.parameters ?? [])].map(describeParameter),
      ...(body !== undefined && { requestBody: body }),
      responses: mapValues(declared, complete),
      security: securityOf(route, settings),
      ...rest,
      ...Object.assign({}, ...parts.map(({ extensions }) => extensions)),
      ...endingExtensions(version),
      ...(Object.keys(waivers).length > 0 && { 'x-waivers': waivers })
    },
    errors: mapValues(errors, complete),
    verb: names.verb,
    headers: headersOf(parts, Object.keys({ ...declared, ...errors }))
  }

  function complete(given: Response, status: string): Response {
    const response = given.description === '' ? { ...given, description: meanings[status] ?? names.content } : given
    const added = parts.flatMap(({ headers = {} }) => Object.keys(headers).filter((name) => applies(headers[name]?.statuses, status)))
    return added.length === 0 ? response : { ...response, headers: { ...references(added), ...response.headers } }
  }
}

function isList({ operation: { responses }, route: { config }, method, path }: OperationDraft, resolve: SchemaPublisher['resolve']) {
  if (config?.collection !== undefined) return true
  // What a change returns, or an item contains, can be an array too.
  if ((method !== 'get' && method !== 'query') || path.endsWith('}')) return false
  const whole = resolve(jsonSchemaOf((responses?.['200'] as Response | undefined)?.content) ?? {})
  const { data = {} } = propertiesOf(whole)
  return whole['type'] === 'array' || resolve(data)['type'] === 'array'
}

function errorsOf(route: DescribedRoute, { errors, operations }: DocumentSettings): readonly DescribedError[] {
  const own = (route.config?.openapi || {}).errors ?? []
  const unknown = own.find((code) => !errors.has(code))
  if (unknown !== undefined && errors.size > 0) {
    throw new TypeError(
      `openapi: ${routeName(route)} lists "${unknown}" in config.openapi.errors, which the error catalogue does not define. Add the error list that defines it to the option include of error-catalogue, or remove it.`
    )
  }
  const codes = new Set([...operations.flatMap((partsOf) => partsOf(route).errors ?? []), ...own])
  return [...codes].toSorted().flatMap((code) => errors.get(code) ?? [])
}

// Permissions are listed in x-permissions. OpenAPI 3.1 allows them here too, but tools treat them as OAuth scopes.
function securityOf({ config }: DescribedRoute, { securitySchemes }: DocumentSettings) {
  return config?.permissions === undefined ? [] : Object.keys(securitySchemes).map((scheme) => ({ [scheme]: [] }))
}

// A body without a schema, for example an image, or a form, whose parts the route receives one by one.
function requestBodyOf({ requestBody }: Operation, route: DescribedRoute): RequestBody | undefined {
  const { consumes = [] } = route.config ?? {}
  if (requestBody !== undefined || methodsOf(route).some((method) => method === 'GET' || method === 'DELETE'))
    return requestBody as RequestBody | undefined
  if (consumes.every((type) => type === 'application/json')) return undefined
  return { required: true, content: Object.fromEntries(consumes.map((type) => [type, { schema: unknownBody(type) }])) }
}

/** Adds the files that plugins read beside the fields of a form. */
function withFiles(body: RequestBody | undefined, parts: readonly OperationParts[], resolve: SchemaPublisher['resolve']) {
  const files = Object.entries(Object.assign({}, ...parts.map((part) => part.files)) as NonNullable<OperationParts['files']>)
  const content = body?.content['multipart/form-data']
  if (files.length === 0 || content?.schema === undefined) return body
  const { $id: _id, ...fields } = resolve(content.schema)
  const required = [...requiredOf(fields), ...files.flatMap(([name, { isRequired }]) => (isRequired ? [name] : []))]
  const schema = {
    ...fields,
    type: 'object',
    properties: { ...propertiesOf(fields), ...mapValues(Object.fromEntries(files), (file) => file.schema) },
    ...(required.length > 0 && { required })
  }
  const encoding = files.flatMap(([name, { contentType }]) => (contentType === undefined ? [] : [[name, { contentType }]]))
  return {
    ...body,
    required: true,
    content: { 'multipart/form-data': { ...content, schema, ...(encoding.length > 0 && { encoding: Object.fromEntries(encoding) }) } }
  }
}

function unknownBody(type: string): JsonSchema {
  if (isJson(type)) return {}
  if (/^multipart\/|^application\/x-www-form-urlencoded$/.test(type))
    return { type: 'object', additionalProperties: true, description: 'The parts of the form, by name: texts and files.' }
  return type.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' }
}

function describeParameter(parameter: Parameter): Parameter {
  const isDescribed = parameter.in !== 'path' || parameter.description !== undefined
  return isDescribed ? parameter : { ...parameter, description: `The path parameter ${parameter.name}.` }
}

function endingNote({ name, ending }: VersionToDescribe) {
  if (ending === undefined) return undefined
  const [from, until] = [ending.deprecatedAt, ending.sunsetAt].map((time) => new Date(time).toISOString().slice(0, 10))
  return `Version ${name} is deprecated from ${from} and retired on ${until}.`
}

/** Returns the OpenAPI extensions for the deprecation and retirement dates of a version (rules V5, V6). */
export function endingExtensions({ ending }: VersionToDescribe): Record<`x-${string}`, string> {
  if (ending === undefined) return {}
  return {
    'x-deprecated-at': new Date(ending.deprecatedAt).toISOString(),
    'x-sunset': new Date(ending.sunsetAt).toISOString(),
    ...(ending.documentation !== undefined && { 'x-migration': ending.documentation })
  }
}

function headersOf(parts: readonly OperationParts[], statuses: readonly string[]): Readonly<Record<string, Header>> {
  const used = parts.flatMap(({ headers }) =>
    Object.entries(headers ?? {}).flatMap(([name, { statuses: wanted, ...header }]): [string, Header][] =>
      // A known header has the same description everywhere, and is listed once per document.
      statuses.some((status) => applies(wanted, status)) ? [[name, knownHeaders[name] ?? header]] : []
    )
  )
  return Object.fromEntries(used)
}

function applies(wanted: readonly string[] | undefined, status: string) {
  return wanted === undefined || wanted.includes(status) || wanted.includes(`${status[0]}XX`)
}

const meanings: Readonly<Record<string, string>> = {
  201: 'Created.',
  202: 'Accepted. Processing continues.',
  204: 'Done. The response has no body.',
  301: 'Moved permanently.',
  303: 'The result is at another URL.',
  304: 'Not modified.'
}
