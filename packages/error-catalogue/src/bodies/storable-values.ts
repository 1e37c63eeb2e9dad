import { pointerOf } from '@concordat/plugin-kit/json-schema'
import type { FastifyRequest } from 'fastify'
import type { SchemaError } from '../schemas/schema-error.ts'

/** The key of the request property that is true once a JSON body was checked while it was parsed. */
export const bodyIsChecked: unique symbol = Symbol('concordat.bodyIsChecked')

/** A request with that property. */
export type CheckedRequest = FastifyRequest & { [bodyIsChecked]?: boolean }

const maxErrors = 100

// A character that databases cannot store: NUL (PostgreSQL), or an unpaired surrogate, which UTF-8 does not have.
function isOdd(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed()
}

/** Returns all values of a part of a request with their places. Buffers, streams and other instances of classes are not read. */
export function* valuesIn(root: unknown): Generator<readonly [value: unknown, instancePath: string]> {
  const seen = new Set<object>()
  const waiting: [value: unknown, path: string][] = [[root, '']]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [value, instancePath] = next
    if (isContainer(value)) {
      if (seen.has(value)) continue
      seen.add(value)
      for (const [key, member] of Object.entries(value)) waiting.push([member, memberPath(instancePath, key)])
    }
    yield next
  }
}

/** Returns an error for each name and value that cannot be stored, at most 100. */
export function unstorableValues(root: unknown): readonly SchemaError[] {
  const errors: SchemaError[] = []
  for (const [value, instancePath] of valuesIn(root)) {
    if (typeof value === 'string') {
      if (isOdd(value)) errors.push({ keyword: 'character', instancePath })
    } else if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
      errors.push({ keyword: 'precision', instancePath })
    } else if (isContainer(value)) {
      for (const key of Object.keys(value))
        if (isOdd(key)) errors.push({ keyword: 'character', instancePath: memberPath(instancePath, key) })
    }
    if (errors.length >= maxErrors) break
  }
  return errors
}

function memberPath(path: string, key: string) {
  return path + pointerOf([key])
}

/** The parts of a request that a validator names. */
export type RequestPart = 'body' | 'querystring' | 'params' | 'headers'

/** Returns the error for a part of a request with invalid values, in the form of Fastify's own validation errors. */
export function invalidPart(validationContext: RequestPart, validation: readonly SchemaError[]): Error {
  return Object.assign(new Error(`${validationContext}${validation[0]?.instancePath ?? ''} has a value that cannot be stored`), {
    code: 'FST_ERR_VALIDATION',
    statusCode: 400,
    validation,
    validationContext
  })
}

function isContainer(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return Array.isArray(value)
  const prototype: unknown = Object.getPrototypeOf(value)
  // The objects of parsers for query strings have a prototype of their own, which is empty.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
