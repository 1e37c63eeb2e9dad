import { isObject, type JsonSchema } from '@concordat/plugin-kit/json-schema'
import { type DescribedProjection, type DescribedRoute, methodsOf, perPageOf } from '../document/described-route.ts'
import { type Content, type Header, mapJson, mapValues, type Operation, type RequestBody, type Response } from '../document/document.ts'
import { isEnveloped, propertiesOf, schemasUnder, typesOf } from '../document/schema-parts.ts'
import { described, draftParameters } from './parameter-drafts.ts'
import type { SchemaPublisher, SharedSchemas } from './published-schema.ts'

/** A route, and the shared schemas of the instance that it belongs to. */
export interface RegisteredRoute {
  readonly route: DescribedRoute
  readonly shared: SharedSchemas
}

/** Returns whether a route belongs in the document of the version whose paths start with `base`. */
export function belongsTo(route: DescribedRoute, base: string): boolean {
  const { config, url } = route
  if (!url.startsWith(`${base}/`) || config?.operational === true || config?.openapi === false || route.schema?.hide === true) return false
  return !methodsOf(route).some((method) => method === 'OPTIONS' || method === 'HEAD')
}

/** The schema key that marks a schema of a resource with only some of its fields. */
export const projectionMark = 'x-projection'

const ownKeys = ['operationId', 'summary', 'description', 'tags', 'deprecated', 'externalDocs', 'security', 'servers', 'callbacks']

/**
 * Returns the operation of a route as its schemas describe it. A resource of which clients can request some fields is described as whole or as
 * the requested fields. A body whose schema accepts null is optional, because Fastify validates a missing body as null.
 */
export function draftOperation({ route, shared }: RegisteredRoute, publisher: SchemaPublisher, maxParamLength: number): Operation {
  const { publish, resolve } = publisher
  const { schema = {}, config } = route
  const { body, response } = schema
  const own = Object.entries(schema).filter(([key]) => ownKeys.includes(key) || key.startsWith('x-'))
  return {
    ...Object.fromEntries(own),
    parameters: draftParameters(route, shared, publisher, maxParamLength),
    ...(isObject(body) && { requestBody: requestBodyOf(body) }),
    responses: responsesOf()
  }

  function requestBodyOf(given: JsonSchema): RequestBody {
    const content = contentOf(given, config?.consumes ?? schema.consumes)
    const acceptsMissing = Object.values(content).every(({ schema: one = {} }) => acceptsNull(resolve(one)))
    const { optionalBody = false } = config?.openapi || {}
    return {
      required: !acceptsMissing && !optionalBody,
      ...(typeof given['description'] === 'string' && { description: given['description'] }),
      content: acceptsMissing ? mapJson(content, withoutNull) : content
    }
  }

  function contentOf(given: JsonSchema, types: readonly string[] = []): Content {
    if (isContent(given)) return mapValues(given.content, (media) => ({ ...media, schema: publish(media.schema, shared) }))
    const published = publish(given, shared)
    return Object.fromEntries((types.length === 0 ? ['application/json'] : types).map((type) => [type, { schema: published }]))
  }

  function responsesOf(): Record<string, Response> {
    const declared = isObject(response) ? response : { 200: undefined }
    const named = Object.entries(declared).map(([status, given]) => [status === 'default' ? status : status.toUpperCase(), given])
    return mapValues(Object.fromEntries(named) as Readonly<Record<string, JsonSchema | undefined>>, responseOf)
  }

  function responseOf(given: JsonSchema | undefined, status: string): Response {
    if (given === undefined) return { description: '' }
    const { headers: own, 'x-response-description': text, ...body } = given
    const isEmpty = status === '204' || status === '205' || given['type'] === 'null'
    const content = isEmpty ? undefined : describedContent(status, contentOf(body, schema.produces))
    const [first] = Object.values(content ?? {})
    const description = text ?? given['description'] ?? (first?.schema && resolve(first.schema)['description'])
    return {
      description: typeof description === 'string' ? description : '',
      ...(isObject(own) && {
        headers: mapValues(own as Readonly<Record<string, JsonSchema>>, (one): Header => described(publish(one, shared)))
      }),
      ...(content !== undefined && { content })
    }
  }

  function describedContent(status: string, content: Content) {
    const { collection, projection = collection } = config ?? {}
    if (projection === undefined || !status.startsWith('2')) return content
    const either = wholeOrProjected(collection ?? projection)
    return mapJson(content, (one) =>
      withData(one, collection === undefined ? either : { type: 'array', maxItems: perPageOf(collection).maximum, items: either })
    )
  }

  function wholeOrProjected({ item, projected, document }: DescribedProjection): JsonSchema {
    // A projected item is another schema than the one with this $id.
    const { $id: _id, ...partial } = projected
    const { $ref: reference } = item
    const home = document ?? (typeof reference === 'string' ? shared(reference.replace(/#$/, '')) : undefined) ?? item
    const description = 'The fields that the parameter `fields` requested.'
    return { anyOf: [publish(item, shared, home), { ...publish(partial, shared, home), [projectionMark]: true, description }] }
  }
}

function withData(schema: JsonSchema, data: JsonSchema): JsonSchema {
  return isEnveloped(schema) ? { ...schema, properties: { ...propertiesOf(schema), data } } : data
}

function acceptsNull(schema: JsonSchema): boolean {
  return typesOf(schema).includes('null') || schemasUnder(schema).some(acceptsNull)
}

function withoutNull(schema: JsonSchema): JsonSchema {
  const types = typesOf(schema).filter((type) => type !== 'null')
  if (types.length > 0) return { ...schema, type: types.length === 1 ? types[0] : types }
  for (const key of ['anyOf', 'oneOf']) {
    const others = schemasUnder(schema, [key]).filter((branch) => branch['type'] !== 'null')
    const { [key]: _branches, ...rest } = schema
    if (others.length > 0) return others.length === 1 ? { ...rest, ...others[0] } : { ...rest, [key]: others.map(withoutNull) }
  }
  return schema
}

function isContent(schema: JsonSchema): schema is { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> } {
  const { content } = schema
  return isObject(content) && !('type' in schema) && Object.values(content).every((media) => isObject(media) && isObject(media['schema']))
}
