import { type DescribedRoute, methodsOf, type RouteSchema } from './described-route.ts'
import { isObject, type JsonSchema, propertiesOf } from './json-schema.ts'

/** Where a route is in the list of those that are described; `@fastify/swagger` carries members that begin with `x-` along. */
export const routeMark = 'x-route'

/** What `@fastify/swagger` is told of a route. */
export type SwaggerSchema = RouteSchema & { readonly consumes?: readonly string[]; readonly [routeMark]?: number }

/** Whether a route belongs to the description of the version at this path. */
export function belongsTo(route: DescribedRoute, base: string): boolean {
  const { config, url } = route
  if (!url.startsWith(`${base}/`) || config?.operational === true || config?.openapi === false || route.schema?.hide === true) return false
  return !methodsOf(route).some((method) => method === 'OPTIONS' || method === 'HEAD')
}

/**
 * The schemas of a route as its callers see them: the items of a collection are whole, although the schema that writes them lets
 * members be left out; an answer without a body has none.
 */
export function swaggerSchema(route: DescribedRoute, mark: number): SwaggerSchema {
  const { schema = {}, config } = route
  const { query, ...rest } = schema
  const querystring = schema.querystring ?? query
  return {
    ...rest,
    ...(querystring !== undefined && { querystring }),
    ...(config?.consumes !== undefined && { consumes: config.consumes }),
    response: answersOf(route),
    [routeMark]: mark
  }
}

function answersOf({ schema, config }: DescribedRoute) {
  const declared = Object.entries((isObject(schema?.response) ? schema.response : {}) as Record<string, JsonSchema>)
  const answers = declared.map(([status, answer]) => {
    if (status === '204' || status === '205') return [status, { type: 'null' }]
    const item = status.startsWith('2') ? config?.collection?.item : undefined
    return [status, item === undefined ? answer : withWholeItems(answer, item)]
  })
  return answers.length === 0 ? undefined : Object.fromEntries(answers)
}

function withWholeItems(answer: JsonSchema, item: JsonSchema): JsonSchema {
  const { content } = answer
  if (isObject(content)) {
    const types = Object.entries(content as Record<string, { schema: JsonSchema }>)
    return {
      ...answer,
      content: Object.fromEntries(types.map(([type, entry]) => [type, { ...entry, schema: withWholeItems(entry.schema, item) }]))
    }
  }
  const { data } = propertiesOf(answer)
  const list = { type: 'array', items: item }
  return data === undefined ? { ...answer, ...list } : { ...answer, properties: { ...propertiesOf(answer), data: list } }
}
