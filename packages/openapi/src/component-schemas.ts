import { isObject, type JsonSchema } from '@concordat/json-schema'
import type { MediaType, OpenapiDocument, Operation, PathItem, RequestBody, Response } from './document.ts'
import { isJson, methods } from './document.ts'
import { projectionMark } from './route-schema.ts'
import { mapSubschemas, propertiesOf } from './schema-parts.ts'
import { pascalCase, resourceName } from './words.ts'

/**
 * Moves the schemas of resources to the components of a document, under names that suit client generators: `Order` for the responses of `/orders`
 * and `/orders/{id}`, `NewOrder`, `OrderReplacement` and `OrderChanges` for the bodies of POST, PUT and PATCH, and `OrderCreatedEvent` for the
 * body of the webhook `order.created`. The title of a schema takes precedence. A different schema with the same name gets a number.
 */
export function nameSchemas(document: OpenapiDocument): OpenapiDocument {
  const named = new Map<string, JsonSchema>(
    Object.entries(document.components?.schemas ?? {}).map(([name, schema]) => [name, tidy(schema)])
  )
  const texts = new Map([...named].map(([name, schema]) => [name, JSON.stringify(schema)]))

  function component(wanted: string, given: JsonSchema): JsonSchema {
    const schema = tidy(given)
    if (!isComposite(schema)) return schema
    const branches = schema['anyOf'] as readonly JsonSchema[] | undefined
    if (branches?.some(isProjected))
      return { anyOf: branches.map((branch) => component(isProjected(branch) ? `Partial${wanted}` : wanted, branch)) }
    const title = typeof schema['title'] === 'string' ? pascalCase(schema['title']) : undefined
    const base = title === undefined ? wanted : isProjected(schema) ? `Partial${title}` : title
    const text = JSON.stringify(schema)
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? base : `${base}${number}`
      if (texts.has(name) && texts.get(name) !== text) continue
      texts.set(name, text)
      named.set(name, schema)
      return { $ref: `#/components/schemas/${name}` }
    }
  }

  function envelope(name: string, schema: JsonSchema): JsonSchema {
    const { data, _links, _meta } = propertiesOf(schema)
    if (data === undefined || _links === undefined || _meta === undefined) return list(name, schema)
    const properties = { data: list(name, data), _links: links, _meta: metaOf(_meta) }
    return { ...schema, properties }
  }

  function list(name: string, schema: JsonSchema): JsonSchema {
    if (schema['type'] !== 'array' || !isObject(schema['items'])) return component(name, schema)
    return { ...tidy(schema), items: component(name, schema['items']) }
  }

  function metaOf(meta: JsonSchema): JsonSchema {
    const { version: _version, timestamp: _timestamp, pagination, ...others } = propertiesOf(meta)
    if (pagination === undefined && Object.keys(others).length === 0) return { $ref: '#/components/schemas/Meta' }
    const common = named.get('Meta') as JsonSchema
    const properties = {
      ...propertiesOf(common),
      ...Object.fromEntries(Object.entries(others).map(([name, schema]) => [name, tidy(schema)])),
      ...(pagination !== undefined && {
        pagination: component('page' in propertiesOf(pagination) ? 'Pagination' : 'CursorPagination', pagination)
      })
    }
    return component(metaName(pagination), { ...meta, properties })
  }

  // The first schema with a name keeps it, so responses are named before request bodies.
  function responsesOf(path: string, operation: Operation): Operation {
    const responses = Object.entries(operation.responses as Readonly<Record<string, Response>>).map(([status, response]) => [
      status,
      status.startsWith('2') && response.content !== undefined
        ? { ...response, content: changeContent(response.content, (schema) => envelope(resourceName(path), schema)) }
        : response
    ])
    return { ...operation, responses: Object.fromEntries(responses) }
  }

  function requestOf(path: string, method: string, operation: Operation): Operation {
    const request = operation.requestBody as RequestBody | undefined
    if (request === undefined) return operation
    return {
      ...operation,
      requestBody: { ...request, content: changeContent(request.content, (schema) => list(requestName(method, path), schema)) }
    }
  }

  // The data of an event is usually a resource that has a name by now. Of several with the same shape, the resource has the shortest name.
  function resourceIn(event: string, schema: JsonSchema): JsonSchema {
    const text = JSON.stringify(tidy(schema))
    const known = [...texts].filter(([, other]) => other === text).map(([name]) => name)
    const [shortest] = known.toSorted((a, b) => a.length - b.length)
    return shortest === undefined ? component(`${event}Data`, schema) : { $ref: `#/components/schemas/${shortest}` }
  }

  function eventOf(type: string, operation: Operation): Operation {
    const request = operation.requestBody as RequestBody | undefined
    if (request === undefined) return operation
    const name = `${pascalCase(type)}Event`
    const content = changeContent(request.content, (schema) => {
      const { data, ...others } = propertiesOf(schema)
      return component(name, data === undefined ? schema : { ...schema, properties: { ...others, data: resourceIn(name, data) } })
    })
    return { ...operation, requestBody: { ...request, content } }
  }

  const withResponses = changeOperations(document.paths ?? {}, (path, _method, operation) => responsesOf(path, operation))
  const paths = changeOperations(withResponses, (path, method, operation) => parametersOf(requestOf(path, method, operation)))
  const webhooks = document.webhooks && changeOperations(document.webhooks, (type, _method, operation) => eventOf(type, operation))
  const components = { ...document.components, schemas: Object.fromEntries(named) }
  return withoutUnused({ ...document, paths, ...(webhooks && { webhooks }), components })
}

const links: JsonSchema = { type: 'array', items: { $ref: '#/components/schemas/Link' } }

function changeContent(content: Readonly<Record<string, MediaType>>, change: (schema: JsonSchema) => JsonSchema) {
  return Object.fromEntries(
    Object.entries(content).map(([type, media]) => [
      type,
      media.schema !== undefined && isJson(type) && media.examples === undefined ? { ...media, schema: change(media.schema) } : media
    ])
  )
}

function requestName(method: string, path: string) {
  const name = resourceName(path)
  if (method === 'put') return `${name}Replacement`
  return method === 'patch' ? `${name}Changes` : `New${name}`
}

function parametersOf(operation: Operation): Operation {
  const parameters = (operation.parameters ?? []).map((parameter) =>
    'schema' in parameter && parameter.schema !== undefined ? { ...parameter, schema: tidy(parameter.schema) } : parameter
  )
  return { ...operation, parameters }
}

function changeOperations(
  paths: Readonly<Record<string, PathItem>>,
  change: (path: string, method: string, operation: Operation) => Operation
): Record<string, PathItem> {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(methods.flatMap((method) => (item[method] === undefined ? [] : [[method, change(path, method, item[method])]])))
    ])
  )
}

function isProjected(schema: JsonSchema) {
  return schema[projectionMark] === true
}

function isComposite(schema: JsonSchema) {
  return ['properties', 'allOf', 'anyOf', 'oneOf', 'additionalProperties'].some(
    (key) => isObject(schema[key]) || Array.isArray(schema[key])
  )
}

/** Replaces unions of constants with enumerations, which client generators support better. */
function tidy(schema: JsonSchema): JsonSchema {
  const inner = mapSubschemas(schema, tidy)
  for (const key of ['anyOf', 'oneOf'] as const) {
    const branches = inner[key]
    if (!Array.isArray(branches) || branches.length === 0) continue
    const constants = branches.map(constantOf)
    if (constants.some((one) => one === undefined)) continue
    const { [key]: _branches, ...rest } = inner
    return { ...rest, type: 'string', enum: constants.map((one) => one?.value) }
  }
  return inner
}

function constantOf(branch: JsonSchema): { readonly value: string } | undefined {
  const value = branch['const']
  return typeof value === 'string' ? { value } : undefined
}

// Fastify adds all shared schemas. Those that no operation of this version uses are removed.
function withoutUnused(document: OpenapiDocument): OpenapiDocument {
  const schemas = document.components?.schemas ?? {}
  const { schemas: _schemas, ...components } = document.components ?? {}
  const used = new Set<string>()
  const queue: unknown[] = [{ paths: document.paths, webhooks: document.webhooks, components }]
  while (queue.length > 0) {
    const text = JSON.stringify(queue.pop())
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"/]+)/g)) {
      if (used.has(name as string) || schemas[name as string] === undefined) continue
      used.add(name as string)
      queue.push(schemas[name as string])
    }
  }
  const kept = Object.entries(schemas).filter(([name]) => used.has(name))
  return { ...document, components: { ...components, schemas: Object.fromEntries(kept.toSorted(([a], [b]) => (a < b ? -1 : 1))) } }
}

function metaName(pagination: JsonSchema | undefined) {
  if (pagination === undefined) return 'FurtherMeta'
  return 'page' in propertiesOf(pagination) ? 'ListMeta' : 'CursorListMeta'
}
