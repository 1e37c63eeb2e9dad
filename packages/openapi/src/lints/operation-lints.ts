import { isObject, type JsonSchema } from '@concordat/plugin-kit/json-schema'
import { follow, isJson, jsonSchemaOf, type Parameter, type RequestBody, type Response } from '../document/document.ts'
import { propertiesOf, requiredOf, typesOf } from '../document/schema-parts.ts'
import type { Lint, Objections, OperationSite } from './lint-sites.ts'

const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** The lints for the input, responses and access control of operations. */
export const operationLints: readonly Lint<OperationSite>[] = [
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

// The schema of the resource in a success response, without the envelope.
function resourceOf(site: OperationSite): JsonSchema | undefined {
  const { document } = site
  const success = responsesOf(site).find(([status]) => status.startsWith('2'))
  const whole = follow<JsonSchema>(document, jsonSchemaOf(success?.[1].content))
  return whole && follow<JsonSchema>(document, propertiesOf(whole)['data'] ?? whole)
}

function contentOf({ operation, document }: OperationSite) {
  return follow<RequestBody>(document, operation.requestBody)?.content
}

function* jsonIsAvailable(site: OperationSite): Objections {
  for (const [status, { content }] of responsesOf(site)) {
    const types = Object.keys(content ?? {})
    if (types.length > 0 && !types.some((type) => isJson(type) || type === '*/*'))
      yield [`the response ${status} is available only as ${types.join(', ')}.`, 'Add application/json, the default.']
  }
}

function* getHasNoBody({ method, operation }: OperationSite): Objections {
  if (['get', 'head'].includes(method) && operation.requestBody !== undefined)
    yield ['it reads data, but accepts a body.', 'Use path and query parameters instead.']
}

function* putIsComplete(site: OperationSite): Objections {
  const { method, document, path } = site
  if (method !== 'put') return
  const body = follow<JsonSchema>(document, jsonSchemaOf(contentOf(site)))
  const get = document.paths?.[path]?.get
  const resource = resourceOf(get === undefined ? site : { ...site, operation: get })
  if (body === undefined || resource === undefined || body['properties'] === undefined) return
  const taken = propertiesOf(body)
  const lost = Object.entries(propertiesOf(resource)).flatMap(([name, schema]) =>
    taken[name] === undefined && follow<JsonSchema>(document, schema)?.['readOnly'] !== true ? [`"${name}"`] : []
  )
  if (lost.length > 0)
    yield [
      `it replaces the resource, but does not accept ${lost.join(', ')}.`,
      'Accept the whole resource and mark fields that only the service sets as readOnly, or use PATCH.'
    ]
  if (requiredOf(body).length === 0 && requiredOf(resource).length > 0)
    yield ['it replaces the resource, but requires no fields.', 'Require the fields that the resource always has, or use PATCH.']
}

// The query parameters of a list, or undefined for an operation that does not return one.
function listQueryOf(site: OperationSite): readonly Parameter[] | undefined {
  const isList = site.method === 'get' && typesOf(resourceOf(site) ?? {}).includes('array')
  return isList ? site.parameters.filter(({ in: where }) => where === 'query') : undefined
}

function* listsArePaged(site: OperationSite): Objections {
  if (listQueryOf(site)?.every(({ name }) => name !== 'perPage'))
    yield [
      'it returns a list that is not paginated.',
      'Add page and perPage, or after and perPage. Or waive the rule and state why the list stays short.'
    ]
}

// Other names for the parameters of the conventions.
const otherNames: Readonly<Record<string, readonly string[]>> = {
  perPage: ['perpage', 'pagesize', 'size', 'limit', 'take', 'maxresults'],
  page: ['pagenumber', 'pageno', 'pageindex', 'offset', 'skip', 'start'],
  after: ['cursor', 'nextcursor', 'pagetoken', 'startingafter', 'continuationtoken'],
  sort: ['sortby', 'orderby', 'order', 'ordering', 'sortorder'],
  fields: ['select', 'fieldset'],
  include: ['embed', 'expand', 'with']
}

function* sameParameterNames(site: OperationSite): Objections {
  const filters = site.operation['x-filterable']
  for (const { name, deprecated } of listQueryOf(site) ?? []) {
    const letters = name.toLowerCase().replaceAll(/[^a-z]/g, '')
    const right = Object.keys(otherNames).find((standard) => otherNames[standard]?.includes(letters))
    // A filter of the collection has the name of its field.
    if (right === undefined || right === name || deprecated === true || (isObject(filters) && Object.hasOwn(filters, name))) continue
    yield [
      `the parameter "${name}" does not have its standard name.`,
      `Rename it to "${right}". offset and limit can stay if they are marked as deprecated.`
    ]
  }
}

function* collectionsAreDescribed(site: OperationSite): Objections {
  const query = listQueryOf(site) ?? []
  const schemas = new Map(query.map(({ name, schema }) => [name, follow<JsonSchema>(site.document, schema) ?? {}]))
  const [perPage, sort] = [schemas.get('perPage'), schemas.get('sort')]
  if (perPage === undefined) return
  if (perPage['default'] === undefined || perPage['maximum'] === undefined)
    yield ['perPage has no documented default and maximum.', 'Add default and maximum to its schema.']
  const order = isObject(sort?.['items']) ? sort['items'] : sort
  if (order !== undefined && !Array.isArray(order['enum']) && typeof order['pattern'] !== 'string')
    yield ['sort does not list the fields that it accepts.', 'Add an enum to the schema of its items.']
  for (const { name, style } of query)
    if (style === 'deepObject' || typesOf(schemas.get(name) as JsonSchema).includes('object'))
      yield [`the filter "${name}" hides its fields and operators.`, 'Describe a parameter for each, for example "total[gte]".']
}

function* keysAreDeclared({ method, operation, parameters }: OperationSite): Objections {
  const takesKey = parameters.some(({ in: where, name }) => where === 'header' && name.toLowerCase() === 'idempotency-key')
  if (takesKey && !['post', 'patch', 'put', 'delete'].includes(method))
    yield ['it accepts Idempotency-Key, which has no effect for this method.', 'Accept the header only where something changes.']
  if (!takesKey && operation['x-idempotency'] !== undefined)
    yield ['it declares support for idempotency keys, but does not accept Idempotency-Key.', 'Describe the header.']
}

function* accessIsDeclared({ operation, document }: OperationSite): Objections {
  if (operation.security === undefined && document.security === undefined)
    yield ['it does not declare who may call it.', 'Add security, or an empty list if it is public.']
}

function* inputsHaveSchemas(site: OperationSite): Objections {
  const isOpen = (given: JsonSchema | undefined) => {
    const schema = follow<JsonSchema>(site.document, given)
    return schema === undefined || !['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', 'properties'].some((key) => key in schema)
  }
  for (const { name, schema, ...rest } of site.parameters)
    if (!('content' in rest) && isOpen(schema)) yield [`the parameter "${name}" has no schema.`, 'Add a schema with a type and bounds.']
  if (Object.entries(contentOf(site) ?? {}).some(([type, { schema }]) => isJson(type) && isOpen(schema)))
    yield ['the body has no schema.', 'Add a schema, so that invalid input is rejected.']
}

function* statusesMatchOutcomes(site: OperationSite): Objections {
  for (const [status, { content }] of responsesOf(site)) {
    const whole = follow<JsonSchema>(site.document, jsonSchemaOf(content)) ?? {}
    const { error, data } = propertiesOf(whole)
    if (/^\d{3}$/.test(status) && STATUS_CODES[status] === undefined)
      yield [`${status} is not an HTTP status code.`, 'Use a registered status code.']
    else if (status.startsWith('2') && error !== undefined && data === undefined && requiredOf(whole).includes('error'))
      yield [`${status} is a success status code, but the response contains an error.`, 'Use the status code of the error.']
  }
}
