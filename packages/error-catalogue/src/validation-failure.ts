import type { FieldError, Params } from '@concordat/plugin-kit/api-error'
import { fillTemplate } from '@concordat/plugin-kit/api-error'
import { pointerSteps } from '@concordat/plugin-kit/json-schema'
import { textWithoutTokens } from '@concordat/plugin-kit/links'
import { textNumber } from './exact-numbers.ts'
import { fieldMessages } from './field-messages.ts'
import type { SchemaError } from './schema-error.ts'
import { withoutNoise } from './schema-noise.ts'
import { allowedBy } from './union-errors.ts'

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

/** Returns the errors of the invalid fields, such as `body.items.0.quantity` or `header.accept`, sorted and without duplicates: the first 100 that the validator found. */
export function fieldErrorsOf(failure: ValidationFailure): readonly FieldError[] {
  const all = [failure.validation, failure.errors].find((list) => Array.isArray(list)) as readonly SchemaError[] | undefined
  if (all === undefined) return []
  const part = partOf(failure)
  const unique = new Map<string, FieldError>()
  // A body can have a thousand errors, and each takes longer to describe than to find.
  for (const schemaError of withoutNoise(all)) {
    const error = fieldErrorOf(part, schemaError)
    unique.set(`${error.field} ${error.key} ${error.message}`, error)
    if (unique.size === maxFields) break
  }
  return [...unique.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, error]) => error)
}

function fieldErrorOf(part: string, error: SchemaError): FieldError {
  const params = error.params ?? {}
  const last = params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty'] ?? params['propertyName']
  const path = pointerSteps(error.instancePath ?? '')
  // Before the name is cut, because a part of a token is not recognized.
  const field = textWithoutTokens([part, ...path, ...(typeof last === 'string' ? [last] : [])].join('.'))
    .slice(0, maxFieldLength)
    .toWellFormed()
  const [key, shown] = keyOf(error, params)
  return {
    field: field.toWellFormed().replaceAll('\0', '\ufffd'),
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
