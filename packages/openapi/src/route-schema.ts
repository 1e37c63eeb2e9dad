import { isObject, type JsonSchema, withDefaults } from '@concordat/json-schema'
import { type DescribedProjection, type DescribedRoute, methodsOf, type RouteSchema } from './described-route.ts'
import { isJson } from './document.ts'
import { propertiesOf } from './schema-parts.ts'

/** The schema key that contains the index of a route in the list of described routes. `@fastify/swagger` copies keys that start with `x-`. */
export const routeMark = 'x-route'

/** The schema that `@fastify/swagger` receives for a route. */
export type SwaggerSchema = RouteSchema & { readonly consumes?: readonly string[] | undefined; readonly [routeMark]?: number | undefined }

/** Returns whether a route belongs in the document of the version whose paths start with `base`. */
export function belongsTo(route: DescribedRoute, base: string): boolean {
  const { config, url } = route
  if (!url.startsWith(`${base}/`) || config?.operational === true || config?.openapi === false || route.schema?.hide === true) return false
  return !methodsOf(route).some((method) => method === 'OPTIONS' || method === 'HEAD')
}

/**
 * Returns the schemas of a route as its clients see them. A resource of which clients can request some fields is described as whole or as the
 * requested fields. A response without a body has no schema.
 */
export function swaggerSchema(route: DescribedRoute, mark: number): SwaggerSchema {
  const { schema = {}, config } = route
  const { response: _response, query, ...rest } = schema
  const { querystring = query, ...parts } = withDefaults(rest)
  return {
    ...parts,
    ...(querystring !== undefined && { querystring }),
    ...(config?.consumes !== undefined && { consumes: config.consumes }),
    response: responsesOf(route),
    [routeMark]: mark
  }
}

function responsesOf({ schema, config }: DescribedRoute) {
  const declared = Object.entries((isObject(schema?.response) ? schema.response : {}) as Record<string, JsonSchema>)
  const responses = declared.map(([status, response]) => {
    if (status === '204' || status === '205') return [status, { type: 'null' }]
    const { collection, projection } = config ?? {}
    if (!status.startsWith('2')) return [status, response]
    if (collection !== undefined) return [status, withData(response, { type: 'array', items: wholeOrProjected(collection) })]
    return [status, projection === undefined ? response : withData(response, wholeOrProjected(projection))]
  })
  return responses.length === 0 ? undefined : Object.fromEntries(responses)
}

/** The schema key that marks a schema of a resource with only some of its fields. */
export const projectionMark = 'x-projection'

function wholeOrProjected({ item, projected }: DescribedProjection): JsonSchema {
  return { anyOf: [item, { ...projected, [projectionMark]: true, description: 'The fields that the parameter `fields` requested.' }] }
}

function withData(response: JsonSchema, data: JsonSchema): JsonSchema {
  const { content } = response
  if (isObject(content)) {
    const types = Object.entries(content as Record<string, { schema: JsonSchema }>)
    return {
      ...response,
      content: Object.fromEntries(
        types.map(([type, entry]) => [type, isJson(type) ? { ...entry, schema: withData(entry.schema, data) } : entry])
      )
    }
  }
  return propertiesOf(response)['data'] === undefined ? data : { ...response, properties: { ...propertiesOf(response), data } }
}
