import { requireJsonSchema, secretKeyword, withValueBounds } from '@concordat/plugin-kit/json-schema'
import { Ajv2019, type AnySchema, type AnySchemaObject, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2019.js'
import { Ajv } from 'ajv/dist/ajv.js'
import draft7 from 'ajv/dist/refs/json-schema-draft-07.json' with { type: 'json' }
import ajvFormats from 'ajv-formats'
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions, RouteOptions } from 'fastify'
import { objectCloser } from './closed-schema.ts'
import { compile, inOwnDialect } from './compiled-schema.ts'
import { budgetExceeded, countBranches } from './counted-unions.ts'
import { textNumberKeyword, withNumbersInText } from './exact-numbers.ts'

type SchemaController = NonNullable<FastifyServerOptions['schemaController']>
/** `schemaController.compilersFactory.buildValidator` of Fastify. */
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

// Beyond these, only the first error is reported: finding all takes a thousand times as long, and the branches of a union that contains itself grow
// exponentially with the depth of the value.
const maxMembersForAllErrors = 2000
const maxBranchesForAllErrors = 2000

/**
 * Creates the function that compiles route schemas, with one validator for bodies and one for the other parts of a request (rule U13). That of bodies
 * coerces nothing and rejects unknown properties. The other parts are text and are coerced; unknown query parameters are rejected, unknown headers are
 * not. Both report all errors and add defaults, except to the body of a PATCH, where they would replace stored values that the client did not send.
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
 * Throws a `TypeError` for a schema of a library such as Zod, which Ajv would treat as a JSON Schema that is incorrect or allows everything, unless the
 * context has compilers of its own.
 */
export function requireJsonSchemas(app: FastifyInstance, { method, url, schema = {} }: RouteOptions): void {
  if (app.validatorCompiler !== undefined || app.serializerCompiler !== undefined) return
  const { response = {}, ...parts } = schema
  for (const [name, part] of [...Object.entries(parts), ...Object.entries(response as object)])
    requireJsonSchema(
      part,
      `error-catalogue: the schema "${name}" of ${String(method)} ${url}`,
      'Register @concordat/standard-schema before this plugin.'
    )
}

const patchBodies = new WeakSet<object>()

/** Marks the bodies of PATCH on a route with other methods too: Fastify compiles one validator for all methods, and passes only the value to it. */
export function markPatchBodies(route: RouteOptions): void {
  const methods = [route.method].flat()
  if (methods.length > 1 && methods.includes('PATCH')) route.preValidation = [route.preValidation ?? [], markPatchBody].flat()
}

function markPatchBody({ method, body }: FastifyRequest, _reply: FastifyReply, next: () => void) {
  if (method === 'PATCH' && typeof body === 'object' && body !== null) patchBodies.add(body)
  next()
}

// Creating the validators takes tens of milliseconds, so contexts of a server with the same shared schemas share them.
const compilers = new WeakMap<AjvSettings, Map<string, RouteCompiler>>()

function routeCompiler(shared: readonly AnySchemaObject[], settings: AjvSettings): RouteCompiler {
  const json = objectCloser(shared, withValueBounds)
  const text = objectCloser(shared, withNumbersInText)
  const sharedJson = shared.map((schema) => json.openAtTop(schema))
  const sharedText = shared.map((schema) => text.openAtTop(schema))
  const compileJson = compiler(settings, { coerceTypes: false }, sharedJson)
  const compileText = compiler(settings, { coerceTypes: 'array' }, sharedText)
  const body = sameForSame((schema) => json.closed(inOwnDialect(schema)))
  const query = sameForSame((schema) => text.closed(inOwnDialect(schema)))
  const params = sameForSame((schema) => text.openAtTop(inOwnDialect(schema)))
  const headers = sameForSame((schema) => text.openAtTop(withLowerCaseNames(inOwnDialect(schema))))
  let compilePatch: Compile | undefined
  return ({ schema, httpPart, method = [] }) => {
    if (httpPart === 'body') return bodyValidator(body(schema), [method].flat())
    return compileText((httpPart === 'querystring' ? query : httpPart === 'headers' ? headers : params)(schema))
  }

  function bodyValidator(schema: AnySchemaObject, methods: readonly string[]): Validator {
    const hasDefaults = () => JSON.stringify([schema, shared]).includes('"default":')
    if (!methods.includes('PATCH') || !hasDefaults()) return compileJson(schema)
    compilePatch ??= compiler(settings, { coerceTypes: false, useDefaults: false }, sharedJson)
    const ofPatch = compilePatch(schema)
    return methods.length === 1 ? ofPatch : byMethod(ofPatch, compileJson(schema))
  }
}

// Ajv compiles an object once, so routes that have a schema in common have its validator in common too.
function sameForSame(change: (schema: AnySchemaObject) => AnySchemaObject) {
  const changed = new WeakMap<AnySchemaObject, AnySchemaObject>()
  return (schema: AnySchemaObject): AnySchemaObject => {
    if (typeof schema !== 'object' || schema === null) return change(schema)
    const result = changed.get(schema) ?? change(schema)
    changed.set(schema, result)
    return result
  }
}

// As Node.js provides the names of headers. Fastify does the same, but only for its own validator.
function withLowerCaseNames(schema: AnySchemaObject): AnySchemaObject {
  if (typeof schema !== 'object' || schema === null) return schema
  const copy: AnySchemaObject = { ...schema }
  if (Array.isArray(schema['required'])) copy['required'] = schema['required'].map((name: string) => name.toLowerCase())
  if (schema['properties'] !== undefined) {
    copy['properties'] = Object.fromEntries(Object.entries(schema['properties']).map(([name, value]) => [name.toLowerCase(), value]))
  }
  for (const key of ['allOf', 'anyOf', 'oneOf']) if (Array.isArray(schema[key])) copy[key] = schema[key].map(withLowerCaseNames)
  return copy
}

function byMethod(ofPatch: Validator, ofOthers: Validator): Validator {
  const validator: Validator = (value) => {
    const chosen = patchBodies.has(value as object) ? ofPatch : ofOthers
    const result = chosen(value)
    validator.errors = chosen.errors
    return result
  }
  return validator
}

// The first validator stops at the first error and decides. The others explain.
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

// Its function returns undefined if unions have more branches to try than `maxBranches`.
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

let draft7Schemas: Ajv | undefined

/** Validates most schemas with the meta-schema of an instance of the process, because to compile it takes as long as dozens of schemas. */
class RouteAjv extends Ajv2019 {
  override validateSchema(schema: AnySchema, throwOrLogError?: boolean): boolean | Promise<unknown> {
    draft7Schemas ??= ajvFormats.default(new Ajv())
    const namesMeta = this.opts.defaultMeta !== undefined || (typeof schema === 'object' && schema['$schema'] !== undefined)
    // What draft 7 refuses can be correct in draft 2019-09, whose own keywords Ajv checks when it compiles them.
    return (!namesMeta && draft7Schemas.validateSchema(schema)) || super.validateSchema(schema, throwOrLogError)
  }
}

function ajvWith({ customOptions, plugins = [] }: AjvSettings, own: Options, schemas: readonly AnySchemaObject[]): Ajv2019 {
  const ajv = new RouteAjv({
    strictTypes: false,
    strictTuples: false,
    allowUnionTypes: true,
    // Where the tests have started the service, no schema is invalid, and to compile the meta-schema takes a tenth of the start.
    validateSchema: process.env['NODE_ENV'] !== 'production',
    ...customOptions,
    useDefaults: true,
    ...own,
    addUsedSchema: false,
    removeAdditional: false,
    // Ajv evaluates it after it has rejected unknown properties, of which it then finds all. `oneOf` accepts the same.
    discriminator: false
  })
  ajv.addMetaSchema(draft7, undefined, false)
  ajvFormats.default(ajv)
  // The format of a `numeric` column that the lists of pagination-query know (OpenAPI format registry). A plugin of the service may define another.
  ajv.addFormat('decimal', /^-?\d+(?:\.\d+)?$/)
  ajv.addKeyword(textNumberKeyword)
  for (const keyword of vocabulary) if (ajv.getKeyword(keyword) === false) ajv.addKeyword(keyword)
  for (const entry of plugins) {
    const [plugin, options] = typeof entry === 'function' ? [entry, undefined] : entry
    plugin(ajv, options)
  }
  for (const schema of schemas) ajv.addSchema(schema)
  return ajv
}

function hasMoreMembers(value: unknown, limit: number): boolean {
  const waiting = [value]
  for (let seen = 0; waiting.length > 0; seen++) {
    const next = waiting.pop()
    if (typeof next !== 'object' || next === null) continue
    const members: unknown[] = Array.isArray(next) ? next : Object.values(next)
    // Compared before they are added: a body of another parser can have any number.
    if (seen + waiting.length + members.length > limit) return true
    for (const member of members) waiting.push(member)
  }
  return false
}
