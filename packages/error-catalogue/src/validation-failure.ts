import type { FieldError, Params } from '@concordat/api-error'
import { fillTemplate } from '@concordat/api-error'
import { fieldMessages } from './field-messages.ts'

/** The error that Fastify makes when a schema refuses a part of the request; its entries are those of Ajv. */
export interface ValidationFailure {
  readonly validation?: readonly SchemaError[]
  readonly validationContext?: string
}

interface SchemaError {
  readonly keyword?: string
  readonly instancePath?: string
  readonly schemaPath?: string
  readonly params?: Readonly<Record<string, unknown>>
}

const maxFields = 100
const maxFieldLength = 256
const unions = new Set(['anyOf', 'oneOf'])
const unknownPropertyKeywords = new Set(['additionalProperties', 'unevaluatedProperties', 'false schema', 'propertyNames'])

/** Every wrong field once, sorted, at most 100, named by its path from the part: `body.items.0.quantity`. */
export function fieldErrorsOf(failure: ValidationFailure): readonly FieldError[] {
  const part = failure.validationContext === 'querystring' ? 'query' : (failure.validationContext ?? 'body')
  const all = failure.validation ?? []
  const errors = withoutBranches(all).map((error) => fieldErrorOf(part, error, all))
  const unique = new Map(errors.map((error) => [`${error.field} ${error.key}`, error]))
  const sorted = [...unique.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, error]) => error)
  return sorted.slice(0, maxFields)
}

// A failed union reports the errors of every branch; only the union's own says something to a reader.
// And what a failed branch would have evaluated is reported as unknown: noise of the same failure.
function withoutBranches(errors: readonly SchemaError[]): readonly SchemaError[] {
  const failed = errors.filter(({ keyword }) => unions.has(keyword ?? ''))
  return errors.filter((error) => {
    if (error.keyword === 'if') return false
    return !failed.some(
      (union) =>
        union !== error &&
        (isWithin(error.schemaPath, union.schemaPath) ||
          (error.keyword === 'unevaluatedProperties' && error.instancePath === union.instancePath))
    )
  })
}

function isWithin(path = '', union = '') {
  return path.startsWith(`${union}/`)
}

function fieldErrorOf(part: string, error: SchemaError, all: readonly SchemaError[]): FieldError {
  const params = error.params ?? {}
  const last = params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty'] ?? params['propertyName']
  const path = (error.instancePath ?? '')
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  const field = [part, ...path, ...(typeof last === 'string' ? [last] : [])].join('.').slice(0, maxFieldLength)
  const [key, shown] = keyOf(error, params, all)
  return { field, key, params: shown, message: fillTemplate(fieldMessages[key]?.en ?? key, shown) }
}

function keyOf(error: SchemaError, params: Readonly<Record<string, unknown>>, all: readonly SchemaError[]): [string, Params] {
  const { keyword = 'invalid' } = error
  if (unknownPropertyKeywords.has(keyword)) return ['unknownProperty', {}]
  if (keyword === 'enum' || keyword === 'const' || unions.has(keyword)) {
    const allowed = allowedValues(error, params, all)
    return allowed === undefined ? ['invalid', {}] : ['enum', { allowed }]
  }
  if (!Object.hasOwn(fieldMessages, keyword)) return ['invalid', {}]
  return [keyword, Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]))]
}

function allowedValues(error: SchemaError, params: Readonly<Record<string, unknown>>, all: readonly SchemaError[]): string | undefined {
  if (Array.isArray(params['allowedValues'])) return params['allowedValues'].join(', ')
  if ('allowedValue' in params) return String(params['allowedValue'])
  const branches = all.filter((branch) => branch !== error && isWithin(branch.schemaPath, error.schemaPath))
  const literal = branches.length > 0 && branches.every(({ keyword }) => keyword === 'const')
  return literal ? branches.map((branch) => String(branch.params?.['allowedValue'])).join(', ') : undefined
}
