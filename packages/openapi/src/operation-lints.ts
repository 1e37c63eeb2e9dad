import { STATUS_CODES } from 'node:http'
import { isObject, type JsonSchema } from '@concordat/json-schema'
import { follow, isJson, jsonSchemaOf, type Parameter, type RequestBody, type Response } from './document.ts'
import type { OperationSite } from './lint-sites.ts'
import type { Objection } from './schema-lints.ts'
import { propertiesOf, requiredOf, typesOf } from './schema-parts.ts'

/** A lint that checks a rule on each operation. It can return several objections. */
export interface OperationLint {
  readonly id: string
  readonly check: (site: OperationSite) => readonly Objection[]
}

/** The lints for the input, responses and access control of operations. */
export const operationLints: readonly OperationLint[] = [
  { id: 'S3', check: jsonIsAvailable },
  { id: 'M9', check: getHasNoBody },
  { id: 'M11', check: putIsComplete },
  { id: 'Q10', check: listsArePaged },
  { id: 'Q11', check: sameParameterNames },
  { id: 'Q13', check: collectionsAreDescribed },
  { id: 'I1', check: keysAreDeclared },
  { id: 'U10', check: accessIsDeclared },
  { id: 'U13', check: inputsHaveSchemas },
  { id: 'X2', check: statusesMatchOutcomes }
]

function responsesOf({ operation, document }: OperationSite): readonly (readonly [status: string, response: Response])[] {
  return Object.entries(operation.responses ?? {}).flatMap(([status, given]) => {
    const response = follow<Response>(document, given)
    return response === undefined ? [] : [[status, response] as const]
  })
}

/** Returns the schema of the resource in a response, without the envelope. */
function resourceOf(schema: JsonSchema | undefined, { document }: OperationSite): JsonSchema | undefined {
  const whole = follow<JsonSchema>(document, schema)
  if (whole === undefined) return undefined
  const { data } = propertiesOf(whole)
  return follow<JsonSchema>(document, data ?? whole)
}

function successOf(site: OperationSite): JsonSchema | undefined {
  const success = responsesOf(site).find(([status]) => status.startsWith('2'))
  return resourceOf(jsonSchemaOf(success?.[1].content), site)
}

function bodyOf({ operation, document }: OperationSite): RequestBody | undefined {
  return follow<RequestBody>(document, operation.requestBody)
}

function jsonIsAvailable(site: OperationSite): readonly Objection[] {
  return responsesOf(site).flatMap(([status, { content }]): Objection[] => {
    const types = Object.keys(content ?? {})
    if (types.length === 0 || types.some((type) => isJson(type) || type === '*/*')) return []
    return [[`the response ${status} is available only as ${types.join(', ')}.`, 'Add application/json, the default.']]
  })
}

function getHasNoBody({ method, operation }: OperationSite): readonly Objection[] {
  if (!['get', 'head'].includes(method) || operation.requestBody === undefined) return []
  return [['it reads data, but accepts a body.', 'Use path and query parameters instead.']]
}

function putIsComplete(site: OperationSite): readonly Objection[] {
  const { method, document, path } = site
  if (method !== 'put') return []
  const body = follow<JsonSchema>(document, jsonSchemaOf(bodyOf(site)?.content))
  const get = document.paths?.[path]?.get
  const resource = get === undefined ? successOf(site) : successOf({ ...site, method: 'get', operation: get })
  if (body === undefined || resource === undefined || body['properties'] === undefined) return []
  const taken = propertiesOf(body)
  const lost = Object.entries(propertiesOf(resource)).flatMap(([name, schema]) =>
    taken[name] === undefined && follow<JsonSchema>(document, schema)?.['readOnly'] !== true ? [name] : []
  )
  const objections: Objection[] = []
  if (lost.length > 0)
    objections.push([
      `it replaces the resource, but does not accept ${lost.map((name) => `"${name}"`).join(', ')}.`,
      'Accept the whole resource and mark fields that only the service sets as readOnly, or use PATCH.'
    ])
  if (requiredOf(body).length === 0 && requiredOf(resource).length > 0)
    objections.push(['it replaces the resource, but requires no fields.', 'Require the fields that the resource always has, or use PATCH.'])
  return objections
}

function isList(site: OperationSite) {
  const resource = successOf(site)
  return site.method === 'get' && resource !== undefined && typesOf(resource).includes('array')
}

function queryOf({ parameters }: OperationSite): readonly Parameter[] {
  return parameters.filter(({ in: where }) => where === 'query')
}

function listsArePaged(site: OperationSite): readonly Objection[] {
  if (!isList(site) || queryOf(site).some(({ name }) => name === 'perPage')) return []
  return [
    [
      'it returns a list that is not paginated.',
      'Add page and perPage, or after and perPage. Or waive the rule and state why the list stays short.'
    ]
  ]
}

// Other names for the parameters of the conventions.
const otherNames: Readonly<Record<string, string>> = {
  perpage: 'perPage',
  pagesize: 'perPage',
  size: 'perPage',
  limit: 'perPage',
  take: 'perPage',
  maxresults: 'perPage',
  pagenumber: 'page',
  pageno: 'page',
  pageindex: 'page',
  offset: 'page',
  skip: 'page',
  start: 'page',
  cursor: 'after',
  nextcursor: 'after',
  pagetoken: 'after',
  startingafter: 'after',
  continuationtoken: 'after',
  sortby: 'sort',
  orderby: 'sort',
  order: 'sort',
  ordering: 'sort',
  sortorder: 'sort',
  select: 'fields',
  include: 'fields',
  fieldset: 'fields'
}

function sameParameterNames(site: OperationSite): readonly Objection[] {
  if (!isList(site)) return []
  const filters = site.operation['x-filterable']
  return queryOf(site).flatMap(({ name, deprecated }): Objection[] => {
    const right = otherNames[name.toLowerCase().replaceAll(/[^a-z]/g, '')]
    if (right === undefined || right === name || deprecated === true) return []
    // A filter of the collection has the name of its field.
    if (isObject(filters) && Object.hasOwn(filters, name)) return []
    return [
      [
        `the parameter "${name}" does not have its standard name.`,
        `Rename it to "${right}". offset and limit can stay if they are marked as deprecated.`
      ]
    ]
  })
}

function collectionsAreDescribed(site: OperationSite): readonly Objection[] {
  const query = queryOf(site)
  const perPage = query.find(({ name }) => name === 'perPage')
  if (!isList(site) || perPage === undefined) return []
  const objections: Objection[] = []
  const bounds = follow<JsonSchema>(site.document, perPage.schema) ?? {}
  if (bounds['default'] === undefined || bounds['maximum'] === undefined)
    objections.push(['perPage has no documented default and maximum.', 'Add default and maximum to its schema.'])
  const sort = query.find(({ name }) => name === 'sort')
  const order = follow<JsonSchema>(site.document, sort?.schema) ?? {}
  const item = isObject(order['items']) ? order['items'] : order
  if (sort !== undefined && !Array.isArray(item['enum']) && typeof item['pattern'] !== 'string')
    objections.push(['sort does not list the fields that it accepts.', 'Add an enum to the schema of its items.'])
  for (const { name, style, schema } of query) {
    const target = follow<JsonSchema>(site.document, schema)
    if (style === 'deepObject' || (target !== undefined && typesOf(target).includes('object')))
      objections.push([`the filter "${name}" hides its fields and operators.`, 'Describe a parameter for each, for example "total[gte]".'])
  }
  return objections
}

function keysAreDeclared({ method, operation, parameters }: OperationSite): readonly Objection[] {
  const takesKey = parameters.some(({ in: where, name }) => where === 'header' && name.toLowerCase() === 'idempotency-key')
  if (takesKey && method !== 'post' && method !== 'patch')
    return [['it accepts Idempotency-Key, which has no effect for this method.', 'Accept the header only for POST and PATCH.']]
  if (!takesKey && operation['x-idempotency'] !== undefined)
    return [['it declares support for idempotency keys, but does not accept Idempotency-Key.', 'Describe the header.']]
  return []
}

function accessIsDeclared({ operation, document }: OperationSite): readonly Objection[] {
  if (operation.security !== undefined || document.security !== undefined) return []
  return [['it does not declare who may call it.', 'Add security, or an empty list if it is public.']]
}

function inputsHaveSchemas(site: OperationSite): readonly Objection[] {
  const open = site.parameters.filter(({ schema, ...rest }) => !('content' in rest) && isOpen(follow<JsonSchema>(site.document, schema)))
  const body = jsonBodyIsOpen(site) ? [['the body has no schema.', 'Add a schema, so that invalid input is rejected.'] as const] : []
  return [...open.map(({ name }) => [`the parameter "${name}" has no schema.`, 'Add a schema with a type and bounds.'] as const), ...body]
}

function jsonBodyIsOpen(site: OperationSite) {
  return Object.entries(bodyOf(site)?.content ?? {}).some(
    ([type, { schema }]) => isJson(type) && isOpen(follow<JsonSchema>(site.document, schema))
  )
}

function isOpen(schema: JsonSchema | undefined) {
  return schema === undefined || !['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', 'properties'].some((key) => key in schema)
}

function statusesMatchOutcomes(site: OperationSite): readonly Objection[] {
  return responsesOf(site).flatMap(([status, { content }]): Objection[] => {
    if (/^\d{3}$/.test(status) && STATUS_CODES[status] === undefined)
      return [[`${status} is not an HTTP status code.`, 'Use a registered status code.']]
    const whole = follow<JsonSchema>(site.document, jsonSchemaOf(content))
    const members = whole === undefined ? {} : propertiesOf(whole)
    if (
      status.startsWith('2') &&
      members['error'] !== undefined &&
      members['data'] === undefined &&
      requiredOf(whole as JsonSchema).includes('error')
    )
      return [[`${status} is a success status code, but the response contains an error.`, 'Use the status code of the error.']]
    return []
  })
}
