import { Ajv2019, type AnySchemaObject } from 'ajv/dist/2019.js'
import ajvFormats from 'ajv-formats'
import type { FastifyServerOptions } from 'fastify'
import { closeObjects } from './closed-schema.ts'

type SchemaController = NonNullable<FastifyServerOptions['schemaController']>
/** What Fastify takes as `schemaController.compilersFactory.buildValidator`. */
export type ValidatorBuilder = NonNullable<NonNullable<SchemaController['compilersFactory']>['buildValidator']>

const vocabulary = ['example', 'discriminator', 'externalDocs', 'xml', 'x-sensitive']

/**
 * Builds the two validators (rule U13). Bodies are strict: nothing is coerced, unknown properties are refused. Everything
 * else arrives as text and is coerced; unknown query parameters are refused, unknown headers are not. Both report all errors.
 * It has the form of Fastify's `schemaController.compilersFactory.buildValidator`.
 */
export const buildValidator: ValidatorBuilder = ((sharedSchemas: Readonly<Record<string, AnySchemaObject>>) => {
  const shared = Object.values(sharedSchemas)
  const closed = shared.map((schema) => closeObjects(schema, 'inside'))
  const body = validator(false, closed)
  const query = validator('array', closed)
  const rest = validator('array', shared)
  return ({ schema, httpPart }: { schema: AnySchemaObject; httpPart?: string }) => {
    if (httpPart === 'body') return compile(body, closeObjects(schema, 'whole'))
    if (httpPart === 'querystring') return compile(query, closeObjects(schema, 'whole'))
    return compile(rest, schema)
  }
  // Fastify's type knows the compilers of its own package only.
}) as unknown as ValidatorBuilder

function validator(coerceTypes: false | 'array', schemas: readonly AnySchemaObject[]) {
  const ajv = new Ajv2019({
    coerceTypes,
    addUsedSchema: false,
    allErrors: true,
    useDefaults: true,
    strictTypes: false,
    strictTuples: false,
    allowUnionTypes: true
  })
  ajvFormats.default(ajv)
  ajv.addVocabulary(vocabulary)
  for (const schema of schemas) ajv.addSchema(schema)
  return ajv
}

// Ajv refuses to compile a second schema with an $id that it knows; two routes may well share one.
function compile(ajv: Ajv2019, schema: AnySchemaObject) {
  const known = typeof schema['$id'] === 'string' ? ajv.getSchema(schema['$id']) : undefined
  return known ?? ajv.compile(schema)
}
