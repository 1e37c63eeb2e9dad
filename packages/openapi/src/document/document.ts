import { isObject, type JsonSchema, splitReference, valueAt } from '@concordat/plugin-kit/json-schema'

/** A parameter of an operation. */
export interface Parameter {
  readonly name: string
  readonly in: 'query' | 'path' | 'header' | 'cookie'
  readonly required?: boolean | undefined
  readonly description?: string | undefined
  readonly deprecated?: boolean | undefined
  readonly style?: string | undefined
  readonly explode?: boolean | undefined
  readonly allowReserved?: boolean | undefined
  readonly allowEmptyValue?: boolean | undefined
  readonly example?: unknown
  readonly schema?: JsonSchema | undefined
  readonly content?: Content | undefined
}

/** The schema and the examples of a body in one media type. */
export interface MediaType {
  readonly schema?: JsonSchema | undefined
  readonly encoding?: Readonly<Record<string, unknown>> | undefined
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly summary?: string | undefined; readonly value: unknown }>> | undefined
}

/** The form of a body in each media type. */
export type Content = Readonly<Record<string, MediaType>>

export interface Header {
  readonly description?: string | undefined
  readonly required?: boolean | undefined
  readonly style?: string | undefined
  readonly explode?: boolean | undefined
  readonly schema?: JsonSchema | undefined
  readonly content?: Content | undefined
}

export interface Response {
  readonly description: string
  readonly headers?: Readonly<Record<string, Header | Reference>> | undefined
  readonly content?: Content | undefined
}

export interface RequestBody {
  readonly required?: boolean | undefined
  readonly description?: string | undefined
  readonly content: Content
}

export interface Reference {
  readonly $ref: string
}

/** An API operation: one HTTP method on a path. Keys that start with `x-` come from this package or from the author of the route. */
export interface Operation {
  readonly operationId?: string | undefined
  readonly summary?: string | undefined
  readonly description?: string | undefined
  readonly tags?: readonly string[] | undefined
  readonly deprecated?: boolean | undefined
  readonly parameters?: readonly (Parameter | Reference)[] | undefined
  readonly requestBody?: RequestBody | Reference | undefined
  readonly responses?: Readonly<Record<string, Response | Reference>> | undefined
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[] | undefined
  readonly [extension: `x-${string}`]: unknown
}

/** An OpenAPI 3.1 document, limited to the parts that this package reads and writes. */
export interface OpenapiDocument {
  readonly openapi: string
  readonly info: {
    readonly title: string
    readonly version: string
    readonly description?: string | undefined
    readonly [member: string]: unknown
  }
  readonly servers?: readonly { readonly url: string; readonly description?: string | undefined }[] | undefined
  readonly tags?: readonly { readonly name: string; readonly description?: string | undefined }[] | undefined
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[] | undefined
  readonly paths?: Readonly<Record<string, PathItem>> | undefined
  readonly webhooks?: Readonly<Record<string, PathItem>> | undefined
  readonly components?:
    | {
        readonly schemas?: Readonly<Record<string, JsonSchema>> | undefined
        readonly responses?: Readonly<Record<string, Response>> | undefined
        readonly parameters?: Readonly<Record<string, Parameter>> | undefined
        readonly headers?: Readonly<Record<string, Header>> | undefined
        readonly requestBodies?: Readonly<Record<string, RequestBody>> | undefined
        readonly securitySchemes?: Readonly<Record<string, unknown>> | undefined
      }
    | undefined
  readonly [extension: `x-${string}`]: unknown
}

/** The operations of a path by method, and the parameters that they share. */
export type PathItem = { readonly [method in (typeof methods)[number]]?: Operation } & {
  readonly parameters?: readonly (Parameter | Reference)[] | undefined
  /** The operations with other methods, by method, as OpenAPI 3.2 lists them in `additionalOperations`. */
  readonly 'x-oai-additionalOperations'?: Readonly<Record<string, Operation>> | undefined
}

// The methods that a path item can have, in the order in which documents list them.
const methods = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete', 'trace'] as const

/** Returns the operations of a path item with their methods in lower case. Also reads those of OpenAPI 3.2. */
export function operationsIn(item: PathItem): readonly (readonly [method: string, operation: Operation])[] {
  const { query, additionalOperations } = item as { readonly query?: Operation; readonly additionalOperations?: Record<string, Operation> }
  const others = Object.entries({ ...(query && { query }), ...additionalOperations, ...item['x-oai-additionalOperations'] })
  return [
    ...methods.flatMap((method) => (item[method] === undefined ? [] : [[method, item[method]] as const])),
    ...others.map(([method, operation]) => [method.toLowerCase(), operation] as const)
  ]
}

/**
 * Returns a path item with operations, each with its method in lower case. A method that a path item of OpenAPI 3.1 does not have, such as QUERY,
 * is in the extension that the OpenAPI Initiative registered for it.
 */
export function pathItem(operations: readonly (readonly [method: string, operation: Operation])[]): PathItem {
  const known = methods.flatMap((method) => operations.filter(([one]) => one === method))
  const others = operations.filter(([one]) => !methods.some((method) => method === one)).map(([method, one]) => [method.toUpperCase(), one])
  return { ...Object.fromEntries(known), ...(others.length > 0 && { 'x-oai-additionalOperations': Object.fromEntries(others) }) }
}

/** Returns an object with the same keys, and the results of `change` as its values. */
export function mapValues<Value, Result>(
  object: Readonly<Record<string, Value>>,
  change: (value: Value, key: string) => Result
): Record<string, Result> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]))
}

/** Returns path items in which each operation is replaced by the result of `change`. */
export function mapOperations(
  items: Readonly<Record<string, PathItem>>,
  change: (path: string, method: string, operation: Operation) => Operation
): Record<string, PathItem> {
  return mapValues(items, (item, path) =>
    pathItem(operationsIn(item).map(([method, operation]) => [method, change(path, method, operation)]))
  )
}

/** Returns the content of a body in which the schemas of JSON are replaced by the results of `change`. */
export function mapJson(content: Content, change: (schema: JsonSchema, type: string) => JsonSchema): Content {
  return mapValues(content, (media, type) =>
    media.schema !== undefined && isJson(type) ? { ...media, schema: change(media.schema, type) } : media
  )
}

/** An operation with its path, its method in lower case, and the parameters of both with references resolved. */
export interface PlacedOperation {
  readonly path: string
  readonly method: string
  readonly operation: Operation
  readonly parameters: readonly Parameter[]
}

/** Returns all operations of a document. */
export function operationsOf(document: OpenapiDocument): readonly PlacedOperation[] {
  const parametersIn = (parameters: readonly (Parameter | Reference)[] = []) =>
    parameters.flatMap((parameter) => follow<Parameter>(document, parameter) ?? [])
  return Object.entries(document.paths ?? {}).flatMap(([path, value]) => {
    const item = follow<PathItem>(document, value) ?? {}
    return operationsIn(item).map(([method, operation]) => {
      const own = parametersIn(operation.parameters)
      const isOwn = (shared: Parameter) => own.some((one) => one.name === shared.name && one.in === shared.in)
      const inherited = parametersIn(item.parameters).filter((shared) => !isOwn(shared))
      return { path, method, operation, parameters: [...inherited, ...own] }
    })
  })
}

/**
 * Resolves a local reference (`#/components/…`); returns any other value unchanged, or undefined if the target is missing or the reference is
 * circular.
 */
export function follow<Target extends object>(document: OpenapiDocument, value: Target | Reference | undefined): Target | undefined {
  let current: unknown = value
  for (let steps = 0; steps < 20; steps += 1) {
    if (!isObject(current)) return undefined
    const reference = current['$ref']
    if (typeof reference !== 'string') return current as Target
    current = reference.startsWith('#/') ? valueAt(document, splitReference(reference).pointer) : undefined
  }
  return undefined
}

/** Returns whether a media type is JSON or has the `+json` suffix. */
export function isJson(mediaType: string): boolean {
  return /[/+]json\b/i.test(mediaType)
}

/** Returns the schema for the JSON media type of a body, or undefined if there is none. */
export function jsonSchemaOf(content: Content | undefined): JsonSchema | undefined {
  return Object.entries(content ?? {}).find(([type]) => isJson(type))?.[1].schema
}
