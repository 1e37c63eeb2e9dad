import { nearestName } from '../options/nearest-name.ts'
import { otherKeysRemedy } from './config-keys.ts'

const parts = ['body', 'querystring', 'params', 'headers', 'response']
// Those of an operation in OpenAPI and Swagger, as @fastify/swagger and similar plugins read them, and the alias of querystring.
const others = ['query', 'cookies', 'tags', 'summary', 'description', 'operationId', 'externalDocs', 'deprecated', 'hide']
const ofDocuments = ['consumes', 'produces', 'schemes', 'security', 'servers', 'callbacks', 'links']
const known: ReadonlySet<string> = new Set([...parts, ...others, ...ofDocuments])

/**
 * Returns an error for each unknown key in the `schema` of a route, which Fastify ignores: nothing is validated. `otherKeys` may contain `schema.<key>`.
 * Symbols, which type providers use, and extensions (`x-…`) are allowed.
 */
export function unknownParts(route: string, schema: unknown, otherKeys: ReadonlySet<string>): readonly TypeError[] {
  const unknown = Object.keys(schema ?? {}).filter((key) => !known.has(key) && !key.startsWith('x-') && !otherKeys.has(`schema.${key}`))
  return unknown.map((key) => {
    const nearest = nearestName(key, known, key.length > 6 ? 2 : 1)
    const remedy = nearest === undefined ? `The parts that are validated are ${parts.join(', ')}.` : `Did you mean schema.${nearest}?`
    return new TypeError(`plugin-kit: ${route}: schema.${key} is unknown and has no effect. ${remedy} ${otherKeysRemedy(`schema.${key}`)}`)
  })
}
