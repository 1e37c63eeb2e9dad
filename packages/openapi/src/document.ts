import { isObject, type JsonSchema } from './json-schema.ts'

/** A parameter of an operation. */
export interface Parameter {
  readonly name: string
  readonly in: 'query' | 'path' | 'header' | 'cookie'
  readonly required?: boolean
  readonly description?: string
  readonly deprecated?: boolean
  readonly style?: string
  readonly explode?: boolean
  readonly schema?: JsonSchema
}

/** One media type of a body. */
export interface MediaType {
  readonly schema?: JsonSchema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>
}

export interface Header {
  readonly description?: string
  readonly required?: boolean
  readonly schema?: JsonSchema
}

export interface Response {
  readonly description: string
  readonly headers?: Readonly<Record<string, Header | Reference>>
  readonly content?: Readonly<Record<string, MediaType>>
}

export interface RequestBody {
  readonly required?: boolean
  readonly description?: string
  readonly content: Readonly<Record<string, MediaType>>
}

export interface Reference {
  readonly $ref: string
}

/** A method on a path. Keys that start with `x-` come from this package or from the author of the route. */
export interface Operation {
  readonly operationId?: string
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly deprecated?: boolean
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: RequestBody | Reference
  readonly responses?: Readonly<Record<string, Response | Reference>>
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly [extension: `x-${string}`]: unknown
}

interface Components {
  readonly schemas?: Readonly<Record<string, JsonSchema>>
  readonly responses?: Readonly<Record<string, Response>>
  readonly parameters?: Readonly<Record<string, Parameter>>
  readonly headers?: Readonly<Record<string, Header>>
  readonly requestBodies?: Readonly<Record<string, RequestBody>>
  readonly securitySchemes?: Readonly<Record<string, unknown>>
}

/** An OpenAPI 3.1 document, limited to the parts that this package reads and writes. */
export interface OpenapiDocument {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string; readonly description?: string; readonly [member: string]: unknown }
  readonly servers?: readonly { readonly url: string; readonly description?: string }[]
  readonly tags?: readonly { readonly name: string; readonly description?: string }[]
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly paths?: Readonly<Record<string, PathItem>>
  readonly webhooks?: Readonly<Record<string, PathItem>>
  readonly components?: Components
  readonly [extension: `x-${string}`]: unknown
}

/** The operations of a path by method, and the parameters that they share. */
export type PathItem = { readonly [method in Method]?: Operation } & { readonly parameters?: readonly (Parameter | Reference)[] }

type Method = (typeof methods)[number]

/** The methods that a path item can have, in the order in which documents list them. */
export const methods = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete', 'trace'] as const

/** An operation with its path and method. */
export interface PlacedOperation {
  readonly path: string
  readonly method: Method
  readonly operation: Operation
  /** Its own parameters and those of its path, with references resolved. */
  readonly parameters: readonly Parameter[]
}

/** Returns all operations of a document. */
export function operationsOf(document: OpenapiDocument): readonly PlacedOperation[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method]
      if (operation === undefined) return []
      const own = parametersIn(document, operation.parameters)
      const inherited = parametersIn(document, item.parameters).filter(
        (shared) => !own.some((one) => one.name === shared.name && one.in === shared.in)
      )
      return [{ path, method, operation, parameters: [...inherited, ...own] }]
    })
  )
}

function parametersIn(document: OpenapiDocument, parameters: readonly (Parameter | Reference)[] = []) {
  return parameters.flatMap((parameter) => follow<Parameter>(document, parameter) ?? [])
}

/** Resolves a local reference (`#/components/…`); returns other values unchanged, and undefined for a missing or endless reference. */
export function follow<Target extends object>(document: OpenapiDocument, value: Target | Reference | undefined): Target | undefined {
  let current: unknown = value
  for (let steps = 0; steps < 20; steps += 1) {
    if (!isObject(current)) return undefined
    const reference = current['$ref']
    if (typeof reference !== 'string') return current as Target
    current = targetOf(document, reference)
  }
  return undefined
}

function targetOf(document: OpenapiDocument, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined
  return reference
    .slice(2)
    .split('/')
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((at, part) => (isObject(at) && Object.hasOwn(at, part) ? at[part] : undefined), document)
}

/** Tells whether a media type is JSON or has the `+json` suffix. */
export function isJson(mediaType: string): boolean {
  return /[/+]json\b/i.test(mediaType)
}

/** Returns the JSON schema of a body, or undefined when the body has none. */
export function jsonSchemaOf(content: Readonly<Record<string, MediaType>> | undefined): JsonSchema | undefined {
  return Object.entries(content ?? {}).find(([type]) => isJson(type))?.[1].schema
}
