import { draft7Of } from '@concordat/plugin-kit/json-schema'
import type { Ajv2019, AnySchemaObject, ValidateFunction } from 'ajv/dist/2019.js'

/** Returns a schema in a dialect that the validators have. Libraries such as Zod write another one into their schemas. */
export function inOwnDialect(schema: AnySchemaObject): AnySchemaObject {
  return schema?.['$schema'] === 'https://json-schema.org/draft/2020-12/schema' ? draft7Of(schema) : schema
}

/**
 * Compiles a schema. It is registered while it is compiled, so that it can refer to itself, and not longer, because two routes can use the same `$id`.
 */
export function compile(ajv: Ajv2019, schema: AnySchemaObject): ValidateFunction {
  const { $id, ...anonymous } = schema
  if (typeof $id !== 'string') return refersToItself(schema) ? compileAs(ownKey, ajv, schema) : ajv.compile(schema)
  if (ajv.getSchema($id) !== undefined) return ajv.compile(anonymous)
  // Subschemas of an earlier schema are registered by their $id too.
  ajv.removeSchema($id)
  return compileAs($id, ajv, schema)
}

const ownKey = 'concordat.self'

// As the recursive schemas of Zod do. Without a key, Ajv does not find the root of a schema that it does not add.
function refersToItself(schema: AnySchemaObject) {
  return JSON.stringify(schema).includes('"$ref":"#"')
}

function compileAs(key: string, ajv: Ajv2019, schema: AnySchemaObject): ValidateFunction {
  ajv.addSchema(schema, key)
  try {
    return ajv.getSchema(key) as ValidateFunction
  } finally {
    ajv.removeSchema(key)
  }
}
