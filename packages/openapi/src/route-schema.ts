import { isObject, type JsonSchema } from '@concordat/json-schema'
import { type DescribedRoute, methodsOf, type RouteSchema } from './described-route.ts'
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
 * Returns the schemas of a route as its clients see them. The items of a collection are complete, although the serialization schema
 * lets `fields` leave fields out. A response without a body has no schema.
 */
export function swaggerSchema(route: DescribedRoute, mark: number): SwaggerSchema {
  const { schema = {}, config } = route
  const { query, ...rest } = schema
  const querystring = schema.querystring ?? query
  return {
    ...rest,
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
    const item = status.startsWith('2') ? config?.collection?.item : undefined
    return [status, item === undefined ? response : withWholeItems(response, item)]
  })
  return responses.length === 0 ? undefined : Object.fromEntries(responses)
}

function withWholeItems(response: JsonSchema, item: JsonSchema): JsonSchema {
  const { content } = response
  if (isObject(content)) {
    const types = Object.entries(content as Record<string, { schema: JsonSchema }>)
    return {
      ...response,
      content: Object.fromEntries(types.map(([type, entry]) => [type, { ...entry, schema: withWholeItems(entry.schema, item) }]))
    }
  }
  const { data } = propertiesOf(response)
  const list = { type: 'array', items: item }
  return data === undefined ? { ...response, ...list } : { ...response, properties: { ...propertiesOf(response), data: list } }
}
