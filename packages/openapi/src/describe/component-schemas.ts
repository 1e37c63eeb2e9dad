import { isObject, type JsonSchema } from '@concordat/plugin-kit/json-schema'
import {
  mapJson,
  mapOperations,
  mapValues,
  type OpenapiDocument,
  type Operation,
  type RequestBody,
  type Response
} from '../document/document.ts'
import { isEnveloped, propertiesOf, requiredOf } from '../document/schema-parts.ts'
import { pascalCase, resourceName } from '../document/words.ts'
import { type ComponentNames, componentNames, linkList, type SchemaClaim } from './component-names.ts'
import { projectionMark } from './operation-draft.ts'
import type { ReferencedSchema } from './published-schema.ts'

/**
 * Moves the schemas of resources to the components of a document, under names that suit client generators: `Order` for the responses of `/orders`
 * and `/orders/{id}`, `NewOrder`, `OrderReplacement` and `OrderChanges` for the bodies of POST, PUT and PATCH, and `OrderCreatedEvent` for the
 * body of the webhook `order.created`. The `$id` or the title of a schema takes precedence. A response that differs from the resource is named
 * after its operation: `CreateOrderResult`.
 */
export function nameSchemas(document: OpenapiDocument, referenced: ReadonlyMap<string, ReferencedSchema>): OpenapiDocument {
  const names = componentNames(document.components?.schemas ?? {}, referenced)
  const places = new Map<string, Place>()
  visitResources(document, (place) => {
    places.set(place.key, place)
    return place.schema
  })
  const results = new Map<string, JsonSchema>()
  for (const place of [...places.values()].toSorted((a, b) => rankOf(a, names) - rankOf(b, names) || (a.key < b.key ? -1 : 1)))
    results.set(place.key, componentOf(place, names))

  const withResources = visitResources(document, ({ key }) => results.get(key) as JsonSchema)
  const paths = mapOperations(withResources.paths ?? {}, (path, _method, operation) => {
    const resource = resourceName(path)
    return names.withNames(withMeta(operation, resource, names, document.components?.schemas?.['Meta'] as JsonSchema), resource)
  })
  const webhooks = document.webhooks && mapOperations(document.webhooks, (type, _method, operation) => eventOf(type, operation, names))
  const { schemas: _schemas, ...components } = document.components ?? {}
  return withoutUnused({ ...document, paths, ...(webhooks && { webhooks }), components: { ...components, schemas: names.all() } })
}

/** A place in an operation where a resource is described. */
interface Place extends SchemaClaim {
  /** The path, method and part of the operation. */
  readonly key: string
  /** The lower, the sooner the place gets the name that it wants. */
  readonly rank: number
}

// The resource itself comes first, then its other responses, then the bodies of requests.
const order = ['get item', 'get list', 'put item', 'patch item', 'post item', 'query list', 'query item']

function rankOf({ schema, names: [wanted], rank }: Place, names: ComponentNames) {
  const given = names.givenTo(branchesWithProjection(schema)?.[0] ?? schema)
  return given === undefined || given === wanted ? rank : rank + 100
}

function branchesWithProjection({ anyOf }: JsonSchema): readonly [JsonSchema, JsonSchema] | undefined {
  const isProjection = Array.isArray(anyOf) && anyOf.length === 2 && isObject(anyOf[1]) && anyOf[1][projectionMark] === true
  return isProjection ? (anyOf as [JsonSchema, JsonSchema]) : undefined
}

function componentOf(place: Place, names: ComponentNames): JsonSchema {
  const branches = branchesWithProjection(place.schema)
  if (branches === undefined) return names.claim(place)
  const [whole, { title: _title, ...projected }] = branches
  const component = names.claim({ ...place, schema: whole })
  const name = String(component['$ref']).replace(/^.*\//, '')
  return { anyOf: [component, names.claim({ ...place, schema: projected, names: [`Partial${name}`] })] }
}

/** Returns a document in which the schema of each resource is replaced by the result of `replace`. */
function visitResources(document: OpenapiDocument, replace: (place: Place) => JsonSchema): OpenapiDocument {
  const paths = mapOperations(document.paths ?? {}, (path, method, operation) => {
    const noun = resourceName(path)
    // The components of all documents, such as Link, have these names.
    const resource = document.components?.schemas?.[noun] === undefined ? noun : `${noun}Resource`
    const base = pascalCase(operation.operationId as string)
    const request = operation.requestBody as RequestBody | undefined
    const body = (given: JsonSchema, type: string) =>
      mapItem(given, (schema) => {
        const names = [requestName(method, noun), `${base}Body`]
        return replace({ key: `${path} ${method} body ${type}`, schema, names, resource, rank: 50 })
      })
    const response = (given: JsonSchema, status: string, type: string) =>
      mapItem(given, (schema, kind) => {
        const own = `${base}${kind === 'list' ? 'Item' : 'Result'}`
        const rank = order.indexOf(`${method} ${kind}`)
        const names = [resource, own, `${own}${status}`]
        return replace({ key: `${path} ${method} ${status} ${type}`, schema, names, resource, rank: rank === -1 ? order.length : rank })
      })
    return {
      ...mapSuccesses(operation, (schema, status, type) => {
        const { data } = propertiesOf(schema)
        if (data === undefined || !isEnveloped(schema)) return response(schema, status, type)
        return { ...schema, properties: { ...propertiesOf(schema), data: response(data, status, type) } }
      }),
      ...(request !== undefined && { requestBody: { ...request, content: mapJson(request.content, body) } })
    }
  })
  return { ...document, paths }
}

function mapSuccesses(operation: Operation, change: (schema: JsonSchema, status: string, type: string) => JsonSchema): Operation {
  const responses = mapValues(operation.responses as Readonly<Record<string, Response>>, (response, status) => {
    if (!status.startsWith('2') || response.content === undefined) return response
    return { ...response, content: mapJson(response.content, (schema, type) => change(schema, status, type)) }
  })
  return { ...operation, responses }
}

// Changes the schema of the items of a list, or of the value itself.
function mapItem(schema: JsonSchema, change: (schema: JsonSchema, kind: 'list' | 'item') => JsonSchema): JsonSchema {
  const { type, items } = schema
  return type === 'array' && isObject(items) ? { ...schema, items: change(items, 'list') } : change(schema, 'item')
}

const requestSuffixes: Readonly<Record<string, string>> = { put: 'Replacement', patch: 'Changes', query: 'Query' }

function requestName(method: string, resource: string) {
  return method in requestSuffixes ? resource + requestSuffixes[method] : `New${resource}`
}

// Adds the schemas of the links and of the metadata to the responses in the envelope.
function withMeta(operation: Operation, resource: string, names: ComponentNames, common: JsonSchema): Operation {
  return mapSuccesses(operation, (schema) => {
    if (!isEnveloped(schema)) return schema
    const { data, _links = {}, _meta } = propertiesOf(schema)
    return { ...schema, properties: { data, _links: linkList(_links), _meta: metaOf(_meta as JsonSchema, resource, names, common) } }
  })
}

function metaOf(meta: JsonSchema, resource: string, names: ComponentNames, common: JsonSchema): JsonSchema {
  const { version: _version, timestamp: _timestamp, pagination, ...others } = propertiesOf(meta)
  const isPlain = Object.keys(others).length === 0
  if (pagination === undefined && isPlain) return { $ref: '#/components/schemas/Meta' }
  const kind = pagination === undefined ? '' : paginationKind(pagination)
  const name = pagination === undefined ? 'Meta' : `${kind}ListMeta`
  const page = pagination && names.claim({ schema: pagination, names: [`${kind}Pagination`, `${resource}Pagination`], resource })
  const properties = { ...propertiesOf(common), ...others, ...(page && { pagination: page }) }
  return names.claim({ schema: { ...meta, properties }, names: [...(isPlain ? [name] : []), resource + name], resource })
}

function paginationKind(pagination: JsonSchema) {
  const { totalItems, totalItemsExact } = propertiesOf(pagination)
  if (totalItemsExact !== undefined) return 'Estimated'
  if (totalItems !== undefined) return ''
  return requiredOf(pagination).includes('page') ? 'Uncounted' : 'Cursor'
}

// The data of an event is the resource that its type begins with, if they have the same shape.
function eventOf(type: string, operation: Operation, names: ComponentNames): Operation {
  const request = operation.requestBody as RequestBody | undefined
  if (request === undefined) return operation
  const resource = `${pascalCase(type)}Event`
  const content = mapJson(request.content, (schema) => {
    const { data, ...others } = propertiesOf(schema)
    if (data === undefined) return names.claim({ schema, names: [resource], resource })
    const subject = pascalCase(type).replace(/[A-Z][a-z0-9]*$/, '')
    const known = names.isNamed(subject, data) ? subject : `${resource}Data`
    const properties = { ...others, data: names.claim({ schema: data, names: [known], resource }) }
    return names.claim({ schema: { ...schema, properties }, names: [resource], resource })
  })
  return names.withNames({ ...operation, requestBody: { ...request, content } }, resource)
}

// A version may not use all common schemas.
function withoutUnused(document: OpenapiDocument): OpenapiDocument {
  const { schemas = {}, ...components } = document.components ?? {}
  const used = new Set<string>()
  const queue: unknown[] = [{ paths: document.paths, webhooks: document.webhooks, components }]
  while (queue.length > 0) {
    for (const [, name = ''] of JSON.stringify(queue.pop()).matchAll(/"#\/components\/schemas\/([^"/]+)/g)) {
      if (used.has(name) || schemas[name] === undefined) continue
      used.add(name)
      queue.push(schemas[name])
    }
  }
  const left = Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)))
  return { ...document, components: { ...components, schemas: left } }
}
