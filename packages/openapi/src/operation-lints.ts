import { STATUS_CODES } from 'node:http'
import { follow, isJson, jsonSchemaOf, type Parameter, type RequestBody, type Response } from './document.ts'
import { isObject, type JsonSchema, propertiesOf, requiredOf, typesOf } from './json-schema.ts'
import type { OperationSite } from './lint-sites.ts'
import type { Objection } from './schema-lints.ts'

/** A rule about operations. It may object more than once. */
export interface OperationLint {
  readonly id: string
  readonly check: (site: OperationSite) => readonly Objection[]
}

/** The rules about what an operation takes, answers and lets in. */
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
  { id: 'X2', check: statusesTellTheTruth }
]

function answersOf({ operation, document }: OperationSite): readonly (readonly [status: string, answer: Response])[] {
  return Object.entries(operation.responses ?? {}).flatMap(([status, given]) => {
    const answer = follow<Response>(document, given)
    return answer === undefined ? [] : [[status, answer] as const]
  })
}

/** The resource that an answer has, out of its envelope. */
function resourceOf(schema: JsonSchema | undefined, { document }: OperationSite): JsonSchema | undefined {
  const whole = follow<JsonSchema>(document, schema)
  if (whole === undefined) return undefined
  const { data } = propertiesOf(whole)
  return follow<JsonSchema>(document, data ?? whole)
}

function successOf(site: OperationSite): JsonSchema | undefined {
  const success = answersOf(site).find(([status]) => status.startsWith('2'))
  return resourceOf(jsonSchemaOf(success?.[1].content), site)
}

function bodyOf({ operation, document }: OperationSite): RequestBody | undefined {
  return follow<RequestBody>(document, operation.requestBody)
}

function jsonIsAvailable(site: OperationSite): readonly Objection[] {
  return answersOf(site).flatMap(([status, { content }]): Objection[] => {
    const types = Object.keys(content ?? {})
    if (types.length === 0 || types.some((type) => isJson(type) || type === '*/*')) return []
    return [[`${status} is answered in ${types.join(', ')} only.`, 'Answer application/json as well, the default.']]
  })
}

function getHasNoBody({ method, operation }: OperationSite): readonly Objection[] {
  if (!['get', 'head'].includes(method) || operation.requestBody === undefined) return []
  return [['it reads, but takes a body.', 'Take what it needs from the path and the query.']]
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
      `it replaces the resource, but can't be sent ${lost.map((name) => `"${name}"`).join(', ')}.`,
      'Take the whole resource, mark what only the service sets as readOnly, or make it a PATCH.'
    ])
  if (requiredOf(body).length === 0 && requiredOf(resource).length > 0)
    objections.push(['it replaces the resource, but needs nothing of it.', 'Require what the resource always has, or make it a PATCH.'])
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
      'it answers a list without pages.',
      'Page it by page and perPage or by after and perPage, or waive the rule and say why the list stays short.'
    ]
  ]
}

// Names that mean what a parameter of the conventions means.
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
  return queryOf(site).flatMap(({ name, deprecated }): Objection[] => {
    const right = otherNames[name.toLowerCase().replaceAll(/[^a-z]/g, '')]
    if (right === undefined || right === name || deprecated === true) return []
    return [
      [
        `the parameter "${name}" is called otherwise elsewhere.`,
        `Call it "${right}"; offset and limit may stay when they are marked as deprecated.`
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
    objections.push(['perPage has no published default and maximum.', 'Give its schema both.'])
  const sort = query.find(({ name }) => name === 'sort')
  const order = follow<JsonSchema>(site.document, sort?.schema) ?? {}
  const item = isObject(order['items']) ? order['items'] : order
  if (sort !== undefined && !Array.isArray(item['enum']) && typeof item['pattern'] !== 'string')
    objections.push(['sort does not list the fields that it takes.', 'Give its items an enum.'])
  for (const { name, style, schema } of query) {
    const target = follow<JsonSchema>(site.document, schema)
    if (style === 'deepObject' || (target !== undefined && typesOf(target).includes('object')))
      objections.push([`the filter "${name}" hides its fields and operators.`, 'Describe one parameter for each, as "total[gte]".'])
  }
  return objections
}

function keysAreDeclared({ method, operation, parameters }: OperationSite): readonly Objection[] {
  const takesKey = parameters.some(({ in: where, name }) => where === 'header' && name.toLowerCase() === 'idempotency-key')
  if (takesKey && method !== 'post' && method !== 'patch')
    return [['it takes an Idempotency-Key, but has no use for it.', 'Take it from POST and PATCH alone.']]
  if (!takesKey && operation['x-idempotency'] !== undefined)
    return [['it says that it supports keys, but does not take Idempotency-Key.', 'Describe the header.']]
  return []
}

function accessIsDeclared({ operation, document }: OperationSite): readonly Objection[] {
  if (operation.security !== undefined || document.security !== undefined) return []
  return [['it does not say who may call it.', 'Give it security, or an empty list when everybody may.']]
}

function inputsHaveSchemas(site: OperationSite): readonly Objection[] {
  const open = site.parameters.filter(({ schema, ...rest }) => !('content' in rest) && isOpen(follow<JsonSchema>(site.document, schema)))
  const body = jsonBodyIsOpen(site) ? [['the body has no schema.', 'Say what is taken, so that everything else is refused.'] as const] : []
  return [...open.map(({ name }) => [`the parameter "${name}" has no schema.`, 'Give it a type and bounds.'] as const), ...body]
}

function jsonBodyIsOpen(site: OperationSite) {
  return Object.entries(bodyOf(site)?.content ?? {}).some(
    ([type, { schema }]) => isJson(type) && isOpen(follow<JsonSchema>(site.document, schema))
  )
}

function isOpen(schema: JsonSchema | undefined) {
  return schema === undefined || !['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', 'properties'].some((key) => key in schema)
}

function statusesTellTheTruth(site: OperationSite): readonly Objection[] {
  return answersOf(site).flatMap(([status, { content }]): Objection[] => {
    if (/^\d{3}$/.test(status) && STATUS_CODES[status] === undefined)
      return [[`${status} is no status of HTTP.`, 'Answer a registered one.']]
    const whole = follow<JsonSchema>(site.document, jsonSchemaOf(content))
    const members = whole === undefined ? {} : propertiesOf(whole)
    if (
      status.startsWith('2') &&
      members['error'] !== undefined &&
      members['data'] === undefined &&
      requiredOf(whole as JsonSchema).includes('error')
    )
      return [[`${status} is a success that carries an error.`, 'Answer the status of the error.']]
    return []
  })
}
