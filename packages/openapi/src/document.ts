import { isObject, type JsonSchema } from './json-schema.ts'

/** A parameter of an operation, or a reference to one. */
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

/** A method on a path. Members that begin with `x-` are ours or the author's. */
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

/** An OpenAPI 3.1 document, as far as this package reads and writes it. */
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

/** The operations of a path by method, with the parameters that they share. */
export type PathItem = { readonly [method in Method]?: Operation } & { readonly parameters?: readonly (Parameter | Reference)[] }

type Method = (typeof methods)[number]

/** The methods that a path item can have, in the order of documents. */
export const methods = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete', 'trace'] as const

/** An operation with its place. */
export interface PlacedOperation {
  readonly path: string
  readonly method: Method
  readonly operation: Operation
  /** Its own parameters and those of its path, references followed. */
  readonly parameters: readonly Parameter[]
}

/** All operations of a document. */
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

/** What a local reference (`#/components/…`) names; anything else is returned as it is. `undefined` when there is no such thing, or no end. */
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

/** Whether a media type is JSON or based on it. */
export function isJson(mediaType: string): boolean {
  return /[/+]json\b/i.test(mediaType)
}

/** The JSON schema of a body, when it has one. */
export function jsonSchemaOf(content: Readonly<Record<string, MediaType>> | undefined): JsonSchema | undefined {
  return Object.entries(content ?? {}).find(([type]) => isJson(type))?.[1].schema
}
