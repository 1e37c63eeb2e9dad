import { isObject, type JsonSchema } from './json-schema.ts'

/** The side of a schema: what it accepts, or what it returns after its defaults and transforms. */
type SchemaSide = 'input' | 'output'

/** An issue that a schema library found in a value. */
export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The result of a validation: the output, or the issues. */
export type StandardResult<Output = unknown> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

/**
 * A schema of a library that implements Standard Schema version 1, such as Zod, Valibot or ArkType. `jsonSchema` is the part of Standard JSON
 * Schema, which not all of them have.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly jsonSchema?: Readonly<Record<SchemaSide, (options: JsonSchemaOptions) => object>> | undefined
  }
}

interface JsonSchemaOptions {
  readonly target: 'draft-07'
  readonly libraryOptions?: Readonly<Record<string, unknown>> | undefined
}

/** The type that a schema accepts. */
export type InputOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['input']
/** The type that a schema returns. */
export type OutputOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output']

/** Returns whether a value is a schema of a library that implements Standard Schema version 1, and not a JSON Schema. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  // ArkType makes schemas that are functions.
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const { '~standard': standard } = value as { readonly '~standard'?: unknown }
  // What `z.toJSONSchema()` returns is a JSON Schema that Zod can also validate with.
  return isObject(standard) && standard['version'] === 1 && typeof standard['validate'] === 'function' && !('$schema' in value)
}

/** Throws a `TypeError` that starts with `place` and ends with `remedy` for a Standard Schema where only a JSON Schema works. */
export function requireJsonSchema(schema: unknown, place: string, remedy: string): void {
  if (isStandardSchema(schema)) throw new TypeError(`${place} is a schema of "${schema['~standard'].vendor}", not a JSON Schema. ${remedy}`)
}

/**
 * Returns a copy of a schema with a JSON Schema that its library does not provide, or another one. `convert` returns that (draft 7) of one side.
 *
 * @example withJsonSchema(schema, (typeMode) => toJsonSchema(schema, { typeMode, ignoreActions: ['check'] }))
 */
export function withJsonSchema<Schema extends StandardSchema>(
  schema: Schema,
  convert: (side: SchemaSide) => object
): StandardSchema<InputOf<Schema>, OutputOf<Schema>> {
  const jsonSchema = { input: () => convert('input'), output: () => convert('output') }
  return { '~standard': { ...schema['~standard'], jsonSchema } }
}

/**
 * Returns the JSON Schema (draft 7) of a schema, without references except those of recursive schemas. In that of the input, each `default` is in
 * {@link libraryDefault}. `libraryOptions` are passed to the library. A value that is not a Standard Schema is returned unchanged. Throws a
 * `TypeError` that starts with `place` if the schema has no JSON Schema.
 */
export function jsonSchemaOf(
  schema: unknown,
  side: SchemaSide,
  place: string,
  libraryOptions?: JsonSchemaOptions['libraryOptions']
): JsonSchema {
  if (!isStandardSchema(schema)) return schema as JsonSchema
  const { vendor, jsonSchema } = schema['~standard']
  if (jsonSchema === undefined)
    throw new TypeError(
      `${place} is a schema of "${vendor}" without a JSON Schema. ${remedies[vendor] ?? 'Add the JSON Schema'} with withJsonSchema().`
    )
  try {
    const converted = JSON.parse(JSON.stringify(jsonSchema[side]({ target: 'draft-07', libraryOptions }))) as JsonSchema
    return withoutReferences(converted, side)
  } catch (error) {
    throw new TypeError(
      `${place} has no JSON Schema for its ${side}: ${(error as Error).message.replace(/\.?$/, '.')} Use a type that JSON has, for example a date as text, or set the JSON Schema with withJsonSchema().`,
      { cause: error }
    )
  }
}

const remedies: Readonly<Record<string, string>> = {
  zod: 'Import zod 4.2 or later, not zod/mini, or add the JSON Schema',
  valibot: 'Wrap it in toStandardJsonSchema() of @valibot/to-json-schema, or add the JSON Schema'
}

// The formats that Ajv knows. A library validates its others, such as cuid2, itself.
const formats = new Set(
  'date time date-time iso-time iso-date-time duration uri uri-reference uri-template url email hostname ipv4 ipv6 regex uuid json-pointer relative-json-pointer byte int32 int64 float double password binary'.split(
    ' '
  )
)

// What pagination-query reads in the schema of a resource, and no Ajv knows in that of a body.
const shownFormat = 'decimal'

// Replaces references by their definitions. A definition that refers to itself stays. The names of both become titles.
function withoutReferences(root: JsonSchema, side: SchemaSide): JsonSchema {
  const definitions = (root['definitions'] ?? {}) as Readonly<Record<string, JsonSchema>>
  const recursive = new Set(Object.keys(definitions).filter((name) => reaches(definitions[name], name, new Set())))
  const recursiveDefinitions = [...recursive].map((name) => [name, { ...titleOf(name), ...(plain(definitions[name]) as JsonSchema) }])
  const { $schema: _dialect, definitions: _definitions, ...schema } = root
  return {
    ...(plain(schema) as JsonSchema),
    ...(recursiveDefinitions.length > 0 && { definitions: Object.fromEntries(recursiveDefinitions) })
  }

  function reaches(node: unknown, name: string, seen: Set<string>): boolean {
    if (typeof node !== 'object' || node === null) return false
    const target = targetOf(node as JsonSchema)
    if (target === name) return true
    if (target !== undefined && !seen.has(target)) return reaches(definitions[target], name, seen.add(target))
    return Object.values(node).some((child) => reaches(child, name, seen))
  }

  function targetOf({ $ref: reference }: JsonSchema): string | undefined {
    const name = typeof reference === 'string' ? /^#\/definitions\/([^/]+)$/.exec(reference)?.[1] : undefined
    return name !== undefined && Object.hasOwn(definitions, name) ? name : undefined
  }

  function plain(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(plain)
    if (!isObject(node)) return node
    const target = targetOf(node)
    if (target !== undefined && !recursive.has(target)) {
      const { $ref: _reference, ...beside } = node
      return plain({ ...titleOf(target), ...definitions[target], ...beside })
    }
    return Object.fromEntries(
      Object.entries(node).flatMap(([key, value]): [PropertyKey, unknown][] => {
        // A library adds a pattern to each format, which no person can read. It validates both itself.
        if (key === 'pattern' && formats.has(node['format'] as string)) return []
        if (key === 'format' && typeof value === 'string' && !formats.has(value) && !(side === 'output' && value === shownFormat)) return []
        // A property can have the name of a keyword, and an example can contain anything.
        if (key === 'properties' && isObject(value))
          return [[key, Object.fromEntries(Object.entries(value).map(([name, property]) => [name, plain(property)]))]]
        if (key === 'default' && side === 'input') return [[libraryDefault, value]]
        // Zod lists the members with a catch() as required, and accepts values without them.
        if (key === 'required' && side === 'input' && Array.isArray(value)) return [[key, value.filter((name) => !hasDefault(node, name))]]
        // Zod wraps a reference in draft 7, and the serializer cannot compile one that is within its own target.
        const only = key === 'allOf' && Array.isArray(value) && value.length === 1 ? plain(value[0]) : undefined
        if (isObject(only) && Object.keys(only).join() === '$ref') return Object.entries(only)
        return [[key, literals.has(key) ? value : plain(value)]]
      })
    )
  }
}

function hasDefault({ properties }: JsonSchema, name: string) {
  const property = isObject(properties) ? properties[name] : undefined
  return isObject(property) && 'default' in property
}

// A library numbers the definitions that have no name.
function titleOf(name: string) {
  return name.startsWith('__') ? {} : { title: name }
}

const literals = new Set(['const', 'default', 'enum', 'example', 'examples'])

/**
 * The key, in the JSON Schema of an input, of the default that the library adds. A validator of JSON Schema must not add it: the library can
 * compute another for each request, and transforms what it receives.
 */
export const libraryDefault: unique symbol = Symbol.for('concordat.libraryDefault')
