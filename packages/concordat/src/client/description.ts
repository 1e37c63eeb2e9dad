import { type JsonSchema, targetWithin } from '@concordat/plugin-kit/json-schema'
import { Refusal } from 'create-concordat'

/** A JSON Schema, or a part of a description that has one. */
export interface Schema {
  readonly [keyword: string]: unknown
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema | boolean>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema | boolean
  readonly prefixItems?: readonly (Schema | boolean)[]
  readonly oneOf?: readonly (Schema | boolean)[]
  readonly anyOf?: readonly (Schema | boolean)[]
  readonly allOf?: readonly (Schema | boolean)[]
  readonly enum?: readonly unknown[]
}

export interface Media {
  readonly schema?: Schema | boolean
}

export interface Message {
  readonly $ref?: string
  readonly required?: boolean
  readonly content?: Readonly<Record<string, Media>>
  readonly headers?: Readonly<Record<string, unknown>>
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Schema | boolean
  readonly explode?: boolean
  readonly style?: string
}

export interface OperationObject {
  readonly [extension: `x-${string}`]: unknown
  readonly summary?: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Message
  readonly responses?: Readonly<Record<string, Message>>
  readonly security?: readonly object[]
}

/** An OpenAPI document, 3.0 or 3.1. */
export interface Document {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string }
  readonly paths?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly webhooks?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> }
}

/** A description, its references, and what could not be expressed. */
export interface Description {
  readonly document: Document
  readonly warnings: Set<string>
  /** Follows references. A reference without a target is `{}`, with a warning. */
  resolve(part: unknown, place: string): unknown
  /** The name of the component that a reference leads to. */
  componentOf(reference: string | undefined): string | undefined
}

const prefix = '#/components/schemas/'
const maxReferences = 100

/** Reads a document. Throws a {@link Refusal} where it is not OpenAPI 3.0 or 3.1. */
export function descriptionOf(value: unknown, source: string): Description {
  const document = value as Document
  if (!/^3\.[01]\./.test(document?.openapi ?? '')) throw new Refusal(`${source} is not an OpenAPI document of version 3.0 or 3.1.`)
  if (typeof document.info?.title !== 'string') throw new Refusal(`${source} is invalid: info.title is missing.`)
  for (const name of ['paths', 'webhooks'] as const)
    if (document[name] !== undefined && (typeof document[name] !== 'object' || document[name] === null))
      throw new Refusal(`${source} is invalid: ${name} must be an object.`)
  const warnings = new Set<string>()

  function resolve(part: unknown, place: string): unknown {
    let found = part
    for (let count = 0; count < maxReferences; count += 1) {
      const reference = (found as Schema | undefined)?.$ref
      if (reference === undefined) return found
      const target = reference.startsWith('#/') ? targetWithin(document as object as JsonSchema, reference) : undefined
      if (target === undefined) {
        warnings.add(`${place}: the reference ${reference} has no target in this document.`)
        return {}
      }
      found = target
    }
    warnings.add(`${place}: the references form a circle.`)
    return {}
  }

  return {
    document,
    warnings,
    resolve,
    componentOf(reference) {
      const key = reference?.startsWith(prefix) ? decoded(reference.slice(prefix.length)) : undefined
      return key !== undefined && document.components?.schemas?.[key] !== undefined ? key : undefined
    }
  }
}

const decoded = (part: string) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')

/** Returns the types of a schema, also where only its keywords say them. */
export function kindsOf(schema: Schema): readonly string[] {
  if (schema.type !== undefined) return [schema.type].flat()
  if (schema.properties !== undefined || typeof schema.additionalProperties === 'object' || schema['patternProperties'] !== undefined)
    return ['object']
  return schema.items !== undefined || schema.prefixItems !== undefined ? ['array'] : []
}
