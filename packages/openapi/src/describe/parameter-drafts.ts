import { isObject, type JsonSchema } from '@concordat/plugin-kit/json-schema'
import type { DescribedRoute } from '../document/described-route.ts'
import type { Parameter } from '../document/document.ts'
import { propertiesOf, requiredOf, schemasUnder, typesOf } from '../document/schema-parts.ts'
import type { SchemaPublisher, SharedSchemas } from './published-schema.ts'

/** Returns the path of a route with its parameters in braces: `/v1/orders/{id}` for `/v1/orders/:id(^\\d+$)`. */
export function pathOf(url: string): string {
  return url.replaceAll(/::|\*|:(\w+)(?:\((?:[^()]|\([^()]*\))*\))?\??/g, (text, name?: string) =>
    text === '::' ? ':' : `{${name ?? text}}`
  )
}

// OpenAPI ignores parameters with these names: other parts of an operation describe them.
const describedElsewhere = new Set(['accept', 'authorization', 'content-type'])

/** Returns the parameters of the operation of a route as its schemas describe them. */
export function draftParameters(
  { schema = {}, url }: DescribedRoute,
  shared: SharedSchemas,
  { publish, resolve }: SchemaPublisher,
  maxParamLength: number
): Parameter[] {
  const { querystring, query, params, headers, cookies } = schema
  return [
    ...pathParameters(),
    ...parametersOf('query', querystring ?? query),
    ...parametersOf('header', headers).filter(({ name }) => !describedElsewhere.has(name.toLowerCase())),
    ...parametersOf('cookie', cookies)
  ]

  function pathParameters() {
    const described = new Map(parametersOf('path', params).map((parameter) => [parameter.name, parameter]))
    return Array.from(pathOf(url).matchAll(/\{([^}]*)\}/g), ([, name = '']): Parameter => {
      const { schema = { type: 'string' }, ...others } = described.get(name) ?? {}
      return { ...others, schema: name === '*' ? schema : withMaxLength(schema, maxParamLength), name, in: 'path', required: true }
    })
  }

  function parametersOf(where: Parameter['in'], given: unknown): Parameter[] {
    if (!isObject(given)) return []
    const required = new Set<string>()
    const members = membersOf(publish(given, shared), required)
    return Object.entries(members).map(([name, member]) => ({ name, in: where, required: required.has(name), ...described(member) }))
  }

  function membersOf(given: JsonSchema, required: Set<string>): Readonly<Record<string, JsonSchema>> {
    const schema = resolve(given)
    for (const name of requiredOf(schema)) required.add(name)
    const all = schemasUnder(schema, ['allOf']).map((part) => membersOf(part, required))
    // A parameter of one alternative is not required in the others.
    const some = schemasUnder(schema).map((part) => membersOf(part, new Set()))
    return Object.assign({}, ...some, ...all, propertiesOf(schema))
  }
}

/** Returns a parameter or a header, whose description is beside its schema. */
export function described({ description, ...schema }: JsonSchema) {
  return { ...(typeof description === 'string' && { description }), schema }
}

// The router refuses a longer parameter before the schema is read, except for a wildcard.
function withMaxLength(schema: JsonSchema, maxLength: number): JsonSchema {
  const isLimited = !typesOf(schema).includes('string') || ['maxLength', 'format', 'enum', 'const'].some((key) => key in schema)
  return isLimited ? schema : { ...schema, maxLength }
}
