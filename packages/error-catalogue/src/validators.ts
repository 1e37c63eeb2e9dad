import { Ajv2019, type AnySchemaObject, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2019.js'
import draft7 from 'ajv/dist/refs/json-schema-draft-07.json' with { type: 'json' }
import ajvFormats from 'ajv-formats'
import type { FastifyServerOptions } from 'fastify'
import { objectCloser } from './closed-schema.ts'
import { withLowerCaseNames } from './header-schema.ts'

type SchemaController = NonNullable<FastifyServerOptions['schemaController']>
/** What Fastify takes as `schemaController.compilersFactory.buildValidator`. */
export type ValidatorBuilder = NonNullable<NonNullable<SchemaController['compilersFactory']>['buildValidator']>
type AjvPlugin = (ajv: Ajv2019, options?: unknown) => unknown
/** What the service gave to Fastify as `ajv`. */
interface AjvSettings {
  readonly customOptions?: Options
  readonly plugins?: readonly (AjvPlugin | readonly [AjvPlugin, unknown])[]
}
type Validator = ((value: unknown) => unknown) & { errors?: readonly ErrorObject[] | null | undefined }
type Compile = (schema: AnySchemaObject) => Validator
type RouteCompiler = (route: { readonly schema: AnySchemaObject; readonly httpPart?: string }) => Validator

const vocabulary = ['example', 'discriminator', 'externalDocs', 'xml', 'x-sensitive']

/** In a value with more members than this, only its first error is looked for: finding all takes a thousand times as long. */
const maxMembersForAllErrors = 10_000

/**
 * Builds the two validators (rule U13). Bodies are strict: nothing is coerced, unknown properties are refused. Everything
 * else arrives as text and is coerced; unknown query parameters are refused, unknown headers are not. Both report all errors.
 * It has the form of Fastify's `schemaController.compilersFactory.buildValidator`; keywords, formats and plugins of
 * Fastify's `ajv` option are kept.
 */
export const buildValidator: ValidatorBuilder = ((sharedSchemas: Readonly<Record<string, AnySchemaObject>>, settings: AjvSettings = {}) => {
  const known = compilers.get(settings) ?? new Map<string, RouteCompiler>()
  compilers.set(settings, known)
  const key = JSON.stringify(sharedSchemas)
  const compile = known.get(key) ?? routeCompiler(Object.values(sharedSchemas), settings)
  known.set(key, compile)
  return compile
  // Fastify's type knows the compilers of its own package only.
}) as unknown as ValidatorBuilder

// Fastify asks once for each context, and making the validators takes tens of milliseconds: contexts of one server that share
// the same schemas have the same ones.
const compilers = new WeakMap<AjvSettings, Map<string, RouteCompiler>>()

function routeCompiler(shared: readonly AnySchemaObject[], settings: AjvSettings): RouteCompiler {
  const closer = objectCloser(shared)
  const sharedOpen = shared.map((schema) => closer.openAtTop(schema))
  const body = compiler(settings, false, sharedOpen)
  const query = compiler(settings, 'array', sharedOpen)
  const rest = compiler(settings, 'array', shared)
  return ({ schema, httpPart }) => {
    if (httpPart === 'body') return body(closer.closed(schema))
    if (httpPart === 'querystring') return query(closer.closed(schema))
    return rest(httpPart === 'headers' ? withLowerCaseNames(schema) : schema)
  }
}

// The validator that stops at the first error decides; the one that finds them all is compiled when it is first needed.
function compiler(settings: AjvSettings, coerceTypes: false | 'array', shared: readonly AnySchemaObject[]): Compile {
  const first = ajvWith(settings, { coerceTypes, allErrors: false }, shared)
  let every: Ajv2019 | undefined
  return (schema) => {
    const decide = compile(first, schema)
    let explain: ValidateFunction | undefined
    const validator: Validator = (value) => {
      const verdict = decide(value)
      // A promise, when the schema is asynchronous.
      if (verdict) return verdict
      validator.errors = decide.errors
      if (hasMoreMembers(value, maxMembersForAllErrors)) return false
      every ??= ajvWith(settings, { coerceTypes, allErrors: true, verbose: true }, shared)
      explain ??= compile(every, schema)
      if (!explain(value)) validator.errors = explain.errors
      return false
    }
    return validator
  }
}

function ajvWith({ customOptions, plugins = [] }: AjvSettings, own: Options, schemas: readonly AnySchemaObject[]): Ajv2019 {
  const ajv = new Ajv2019({
    strictTypes: false,
    strictTuples: false,
    allowUnionTypes: true,
    ...customOptions,
    ...own,
    addUsedSchema: false,
    removeAdditional: false,
    useDefaults: true
  })
  // Not validated, since the draft is known to be valid.
  ajv.addMetaSchema(draft7, undefined, false)
  ajvFormats.default(ajv)
  for (const keyword of vocabulary) if (ajv.getKeyword(keyword) === false) ajv.addKeyword(keyword)
  for (const plugin of plugins) {
    if (typeof plugin === 'function') plugin(ajv)
    else plugin[0](ajv, plugin[1])
  }
  for (const schema of schemas) ajv.addSchema(schema)
  return ajv
}

// A schema must be known by its $id while it is compiled, or it can not refer to itself, and not any longer: two routes may
// well name their schemas alike.
function compile(ajv: Ajv2019, schema: AnySchemaObject): ValidateFunction {
  const { $id, ...anonymous } = schema
  if (typeof $id !== 'string') return ajv.compile(schema)
  if (ajv.getSchema($id) !== undefined) return ajv.compile(anonymous)
  // What an earlier schema has inside it is remembered by name too.
  ajv.removeSchema($id)
  ajv.addSchema(schema)
  try {
    return ajv.getSchema($id) as ValidateFunction
  } finally {
    ajv.removeSchema($id)
  }
}

function hasMoreMembers(value: unknown, limit: number): boolean {
  const waiting = [value]
  for (let seen = 0; waiting.length > 0; seen++) {
    if (seen > limit || waiting.length > limit) return true
    const next = waiting.pop()
    if (typeof next === 'object' && next !== null) for (const member of Object.values(next)) waiting.push(member)
  }
  return false
}
