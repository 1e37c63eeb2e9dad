import type { FieldError } from '@concordat/plugin-kit/api-error'
import { pointerOf, pointerSteps } from '@concordat/plugin-kit/json-schema'
import { textWithoutTokens } from '@concordat/plugin-kit/links'
import { fillTemplate, type Params } from '@concordat/plugin-kit/texts'
import { fieldMessages } from '../catalogue/field-messages.ts'
import { textNumber } from '../schemas/exact-numbers.ts'
import type { SchemaError } from '../schemas/schema-error.ts'
import { withoutNoise } from '../schemas/schema-noise.ts'
import { allowedBy } from '../schemas/union-errors.ts'

/** The error of Fastify for a part of the request that does not match its schema. */
export interface ValidationFailure {
  readonly validation?: unknown
  /** The Ajv errors, if the schema is asynchronous. */
  readonly errors?: unknown
  readonly validationContext?: unknown
}

const maxFields = 100
const maxFieldLength = 256
const maxMessageLength = 256
const unknownPropertyKeywords = new Set(['additionalProperties', 'unevaluatedProperties', 'false schema', 'propertyNames'])

const parts: Readonly<Record<string, string>> = { querystring: 'query', headers: 'header', params: 'path' }

/** Returns the name of the invalid part of the request as API descriptions call it: `body`, `query`, `header` or `path`. */
export function partOf({ validationContext }: ValidationFailure): string {
  const context = String(validationContext)
  return parts[context] ?? context
}

/** Returns the errors of the invalid fields, such as `body.items.0.quantity` or `header.accept`: the first 100, sorted and without duplicates. */
export function fieldErrorsOf(failure: ValidationFailure): readonly FieldError[] {
  const all = [failure.validation, failure.errors].find((list) => Array.isArray(list)) as readonly SchemaError[] | undefined
  if (all === undefined) return []
  const unique = new Map<string, FieldError>()
  for (const one of withoutNoise(all)) {
    // A body can have ten times as many.
    if (unique.size === maxFields) break
    const error = fieldErrorOf(partOf(failure), one)
    unique.set(`${error.field} ${error.key} ${error.message}`, error)
  }
  return [...unique].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, error]) => error)
}

function fieldErrorOf(part: string, error: SchemaError): FieldError {
  const params = error.params ?? {}
  const last = params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty'] ?? params['propertyName']
  const path = [...pointerSteps(error.instancePath ?? ''), ...(typeof last === 'string' ? [last] : [])]
  // Before the name is cut, because a part of a token is not recognized.
  const field = textWithoutTokens([part, ...path].join('.'))
    .slice(0, maxFieldLength)
    .toWellFormed()
  const [key, shown] = keyOf(error, params)
  return {
    field: field.toWellFormed().replaceAll('\0', '\ufffd'),
    pointer: pointerOf(path),
    key,
    params: shown,
    message: fillTemplate(fieldMessages[key]?.en ?? key, shown)
  }
}

function keyOf(error: SchemaError, params: Readonly<Record<string, unknown>>): [string, Params] {
  const { keyword = 'invalid', message } = error
  // The message of a schema library, which the author of the service wrote; it is also the key of its translations.
  if (keyword === '~standard' && message !== undefined) return [textWithoutTokens(message).slice(0, maxMessageLength).toWellFormed(), {}]
  if (unknownPropertyKeywords.has(keyword)) return ['unknownProperty', {}]
  if (keyword === textNumber) return 'type' in params ? ['type', { type: String(params['type']) }] : ['precision', {}]
  if ('missingProperty' in params) return ['required', {}]
  const allowed = allowedBy(error)?.join(', ')
  if (keyword === 'const') return ['enum', { allowed: allowed ?? '' }]
  if (!Object.hasOwn(fieldMessages, keyword)) return ['invalid', {}]
  const shown = Object.entries(params).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : String(value)])
  return [keyword, { ...Object.fromEntries(shown), ...(allowed !== undefined && { allowed }) }]
}
