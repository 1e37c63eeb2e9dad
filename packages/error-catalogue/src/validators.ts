import { requireJsonSchema, secretKeyword } from '@concordat/json-schema'
import { Ajv2019, type AnySchemaObject, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2019.js'
import draft7 from 'ajv/dist/refs/json-schema-draft-07.json' with { type: 'json' }
import ajvFormats from 'ajv-formats'
import type { FastifyServerOptions, RouteOptions } from 'fastify'
import { objectCloser } from './closed-schema.ts'
import { budgetExceeded, countBranches } from './counted-unions.ts'
import { textNumberKeyword, withExactIntegers, withNumbersInText } from './exact-numbers.ts'
import { withLowerCaseNames } from './header-schema.ts'
import { isPatchBody } from './patch-bodies.ts'

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
interface RoutePart {
  readonly schema: AnySchemaObject
  readonly httpPart?: string | undefined
  readonly method?: string | readonly string[] | undefined
}
type RouteCompiler = (part: RoutePart) => Validator

const vocabulary = ['example', 'discriminator', 'externalDocs', 'xml', secretKeyword]

/**
 * The maximum number of members in a value for which all errors are reported; for a larger value only the first error is reported, because finding
 * all errors takes a thousand times as long.
 */
const maxMembersForAllErrors = 10_000

/**
 * The maximum number of branches of unions that are tried for all errors, for the same reason: in a union that contains itself, their number
 * grows exponentially with the depth of the value.
 */
const maxBranchesForAllErrors = 20_000

/**
 * Creates the function that compiles route schemas, with one validator for bodies and one for the other parts of a request (rule U13). The
 * validator of bodies is strict: it coerces nothing and rejects unknown properties. All other parts arrive as text and are coerced; unknown query
 * parameters are rejected, unknown headers are not. Both report all errors, and add defaults, except to the body of a PATCH: a default there would
 * replace a stored value that the client did not send. This is a `schemaController.compilersFactory.buildValidator` of
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
  const sharedJson = shared.map((schema) => json.openAtTop(schema))
  const sharedText = shared.map((schema) => text.openAtTop(schema))
  const compileJson = compiler(settings, { coerceTypes: false }, sharedJson)
  const compileText = compiler(settings, { coerceTypes: 'array' }, sharedText)
  let compilePatch: Compile | undefined
  return ({ schema, httpPart, method = [] }) => {
    if (httpPart === 'body') return bodyValidator(json.closed(schema), [method].flat())
    if (httpPart === 'querystring') return compileText(text.closed(schema))
    return compileText(text.openAtTop(httpPart === 'headers' ? withLowerCaseNames(schema) : schema))
  }

  function bodyValidator(schema: AnySchemaObject, methods: readonly string[]): Validator {
    const hasDefaults = () => JSON.stringify([schema, shared]).includes('"default":')
    if (!methods.includes('PATCH') || !hasDefaults()) return compileJson(schema)
    compilePatch ??= compiler(settings, { coerceTypes: false, useDefaults: false }, sharedJson)
    const ofPatch = compilePatch(schema)
    return methods.length === 1 ? ofPatch : byMethod(ofPatch, compileJson(schema))
  }
}

function byMethod(ofPatch: Validator, ofOthers: Validator): Validator {
  const validator: Validator = (value) => {
    const chosen = isPatchBody(value) ? ofPatch : ofOthers
    const result = chosen(value)
    validator.errors = chosen.errors
    return result
  }
  return validator
}

// The first validator stops at the first error and decides. The others explain and are compiled when they are first needed.
function compiler(settings: AjvSettings, own: Options, shared: readonly AnySchemaObject[]): Compile {
  const first = ajvWith(settings, { ...own, allErrors: false }, shared)
  const explanations = [true, false].map((allErrors) => explanation(settings, { ...own, allErrors }, shared))
  return (schema) => {
    const decide = compile(first, schema)
    const [all, one] = explanations.map((explain) => explain(schema)) as [Explain, Explain]
    const validator: Validator = (value) => {
      const result = decide(value)
      // This is a promise when the schema is asynchronous.
      if (result) return result
      const errors = hasMoreMembers(value, maxMembersForAllErrors) ? undefined : all(value, maxBranchesForAllErrors)
      validator.errors = errors ?? one(value, Number.POSITIVE_INFINITY) ?? decide.errors
      return false
    }
    return validator
  }
}

type Explain = (value: unknown, maxBranches: number) => readonly ErrorObject[] | null | undefined

// Compiles a function that returns the errors of a value, or undefined if unions have more branches to try than `maxBranches`.
function explanation(settings: AjvSettings, own: Options, shared: readonly AnySchemaObject[]): (schema: AnySchemaObject) => Explain {
  const budget = { left: 0 }
  let ajv: Ajv2019 | undefined
  return (schema) => {
    let validate: ValidateFunction | undefined
    // The first validator has validated the schema itself.
    return (value, maxBranches) => {
      ajv ??= countBranches(ajvWith(settings, { ...own, verbose: true, validateSchema: false }, shared), budget)
      validate ??= compile(ajv, schema)
      budget.left = maxBranches
      try {
        validate(value)
        return validate.errors
      } catch (error) {
        if (error !== budgetExceeded) throw error
        return undefined
      }
    }
  }
}

function ajvWith({ customOptions, plugins = [] }: AjvSettings, own: Options, schemas: readonly AnySchemaObject[]): Ajv2019 {
  const ajv = new Ajv2019({
    strictTypes: false,
    strictTuples: false,
    allowUnionTypes: true,
    ...customOptions,
    useDefaults: true,
    ...own,
    addUsedSchema: false,
    removeAdditional: false,
    // Ajv evaluates it after it has rejected unknown properties, of which it then finds all. `oneOf` accepts the same.
    discriminator: false
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
