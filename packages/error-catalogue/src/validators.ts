import { requireJsonSchema } from '@concordat/json-schema'
import { Ajv2019, type AnySchemaObject, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2019.js'
import draft7 from 'ajv/dist/refs/json-schema-draft-07.json' with { type: 'json' }
import ajvFormats from 'ajv-formats'
import type { FastifyServerOptions, RouteOptions } from 'fastify'
import { objectCloser } from './closed-schema.ts'
import { textNumberKeyword, withExactIntegers, withNumbersInText } from './exact-numbers.ts'
import { withLowerCaseNames } from './header-schema.ts'

type SchemaController = NonNullable<FastifyServerOptions['schemaController']>
/** The type of `schemaController.compilersFactory.buildValidator` of Fastify. */
export type ValidatorBuilder = NonNullable<NonNullable<SchemaController['compilersFactory']>['buildValidator']>
type AjvPlugin = (ajv: Ajv2019, options?: unknown) => unknown
/** The option `ajv` of Fastify. */
interface AjvSettings {
  readonly customOptions?: Options | undefined
  readonly plugins?: readonly (AjvPlugin | readonly [AjvPlugin, unknown])[] | undefined
}
type Validator = ((value: unknown) => unknown) & { errors?: readonly ErrorObject[] | null | undefined }
type Compile = (schema: AnySchemaObject) => Validator
type RouteCompiler = (route: { readonly schema: AnySchemaObject; readonly httpPart?: string | undefined }) => Validator

const vocabulary = ['example', 'discriminator', 'externalDocs', 'xml', 'x-sensitive']

/**
 * The maximum number of members in a value for which all errors are reported; for a larger value only the first error is reported, because finding
 * all errors takes a thousand times as long.
 */
const maxMembersForAllErrors = 10_000

/**
 * Creates the function that compiles route schemas, with one validator for bodies and one for the other parts of a request (rule U13). The
 * validator of bodies is strict: it coerces nothing and rejects unknown properties. All other parts arrive as text and are coerced; unknown query
 * parameters are rejected, unknown headers are not. Both report all errors. This is a `schemaController.compilersFactory.buildValidator` of
 * Fastify. Keywords, formats and plugins of the Fastify option `ajv` are supported.
 */
export const buildValidator: ValidatorBuilder = ((sharedSchemas: Readonly<Record<string, AnySchemaObject>>, settings: AjvSettings = {}) => {
  const known = compilers.get(settings) ?? new Map<string, RouteCompiler>()
  compilers.set(settings, known)
  const key = JSON.stringify(sharedSchemas)
  const compile = known.get(key) ?? routeCompiler(Object.values(sharedSchemas), settings)
  known.set(key, compile)
  return compile
  // The type of Fastify includes only the compilers of its own package.
}) as unknown as ValidatorBuilder

/**
 * Throws a `TypeError` for a schema of a library such as Zod, which Ajv would treat as an incorrect JSON Schema, or as a JSON Schema that
 * allows everything.
 */
export function requireJsonSchemas({ method, url, schema = {} }: Pick<RouteOptions, 'method' | 'url' | 'schema'>): void {
  const { response = {}, ...parts } = schema
  for (const [name, part] of [...Object.entries(parts), ...Object.entries(response as object)])
    requireJsonSchema(
      part,
      `error-catalogue: the schema "${name}" of ${String(method)} ${url}`,
      'Register @concordat/standard-schema before this plugin.'
    )
}

// Fastify calls this once per context, and creating the validators takes tens of milliseconds. So contexts of a server with the same
// shared schemas share the validators.
const compilers = new WeakMap<AjvSettings, Map<string, RouteCompiler>>()

function routeCompiler(shared: readonly AnySchemaObject[], settings: AjvSettings): RouteCompiler {
  const json = objectCloser(shared, withExactIntegers)
  const text = objectCloser(shared, withNumbersInText)
  const compileJson = compiler(
    settings,
    false,
    shared.map((schema) => json.openAtTop(schema))
  )
  const compileText = compiler(
    settings,
    'array',
    shared.map((schema) => text.openAtTop(schema))
  )
  return ({ schema, httpPart }) => {
    if (httpPart === 'body') return compileJson(json.closed(schema))
    if (httpPart === 'querystring') return compileText(text.closed(schema))
    return compileText(text.openAtTop(httpPart === 'headers' ? withLowerCaseNames(schema) : schema))
  }
}

// The first validator stops at the first error and decides. The second finds all errors and is compiled when it is first needed.
function compiler(settings: AjvSettings, coerceTypes: false | 'array', shared: readonly AnySchemaObject[]): Compile {
  const first = ajvWith(settings, { coerceTypes, allErrors: false }, shared)
  let every: Ajv2019 | undefined
  return (schema) => {
    const decide = compile(first, schema)
    let explain: ValidateFunction | undefined
    const validator: Validator = (value) => {
      const result = decide(value)
      // This is a promise when the schema is asynchronous.
      if (result) return result
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
  // Validation is skipped, because the draft is known to be valid.
  ajv.addMetaSchema(draft7, undefined, false)
  ajvFormats.default(ajv)
  ajv.addKeyword(textNumberKeyword)
  for (const keyword of vocabulary) if (ajv.getKeyword(keyword) === false) ajv.addKeyword(keyword)
  for (const plugin of plugins) {
    if (typeof plugin === 'function') plugin(ajv)
    else plugin[0](ajv, plugin[1])
  }
  for (const schema of schemas) ajv.addSchema(schema)
  return ajv
}

// A schema must be registered under its $id while it is compiled, so that it can refer to itself. It is removed afterwards, because
// two routes can use the same $id for their schemas.
function compile(ajv: Ajv2019, schema: AnySchemaObject): ValidateFunction {
  const { $id, ...anonymous } = schema
  if (typeof $id !== 'string') return ajv.compile(schema)
  if (ajv.getSchema($id) !== undefined) return ajv.compile(anonymous)
  // Subschemas of an earlier schema are registered by their $id too.
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
