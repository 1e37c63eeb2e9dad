import { textNumber } from './exact-numbers.ts'

/** A validation error from Ajv. Other validators can omit any of its properties. */
export interface SchemaError {
  readonly keyword?: string | undefined
  readonly instancePath?: string | undefined
  readonly schemaPath?: string | undefined
  readonly params?: Readonly<Record<string, unknown>> | undefined
  readonly parentSchema?: Readonly<Record<string, unknown>> | undefined
  readonly data?: unknown
  readonly message?: string | undefined
}

/** An error that is useful to clients. For the error of a union, `branches` has the errors of its branches. */
export interface ReportedError {
  readonly error: SchemaError
  readonly branches: readonly SchemaError[]
}

const unions = new Set(['anyOf', 'oneOf'])
const references = ['$ref', 'anyOf', 'oneOf', 'then', 'else']

/**
 * Returns the errors from Ajv without those that only follow from another error. Ajv lists errors in the order of evaluation: the errors of the
 * branches of a union, or of a property name, directly before the error of the union or name, and unevaluated properties last.
 */
export function withoutNoise(errors: readonly SchemaError[]): readonly ReportedError[] {
  const reported: ReportedError[] = []
  const failedUnions = new Set<string | undefined>()
  for (let index = errors.length - 1; index >= 0; index--) {
    const error = errors[index] as SchemaError
    const start = unions.has(error.keyword ?? '') || error.keyword === 'propertyNames' ? startOfBranches(errors, index) : index
    // A failed branch can be a union too. The properties that it evaluated are reported as unknown as well.
    for (const part of errors.slice(start, index + 1)) if (unions.has(part.keyword ?? '')) failedUnions.add(part.instancePath)
    if (error.keyword !== 'if') reported.push({ error, branches: errors.slice(start, index) })
    index = start
  }
  const unevaluated = reported.filter(({ error }) => error.keyword === 'unevaluatedProperties')
  const noise = new Set(unevaluated.filter(({ error }) => failedUnions.has(error.instancePath)).map(({ error }) => error))
  for (const error of notEvaluatedAtAll(errors)) noise.add(error)
  for (const error of coercedNevertheless(errors)) noise.add(error)
  return reported.filter(({ error }) => !noise.has(error)).toReversed()
}

// The errors of the branches of a union are at or below its value, and below its schema or in a referenced schema.
function startOfBranches(errors: readonly SchemaError[], index: number): number {
  const owner = errors[index] as SchemaError
  let start = index
  while (start > 0) {
    const before = errors[start - 1] as SchemaError
    const isBranch = isWithin(before.schemaPath, owner.schemaPath) || documentOf(before) !== documentOf(owner)
    if (!isBranch || !isAtOrBelow(before.instancePath, owner.instancePath)) break
    start--
  }
  return start
}

// An object that is invalid for a referenced schema counts as not evaluated, so all its properties are reported as unknown.
function notEvaluatedAtAll(errors: readonly SchemaError[]): readonly SchemaError[] {
  const noise: SchemaError[] = []
  for (let index = 0, end = 0; index < errors.length; index = end) {
    const first = errors[index] as SchemaError
    end = index + 1
    if (first.keyword !== 'unevaluatedProperties') continue
    while (errors[end]?.schemaPath === first.schemaPath && errors[end]?.instancePath === first.instancePath) end++
    const failedBefore = index > 0 && isAtOrBelow(errors[index - 1]?.instancePath, first.instancePath)
    const isAll = end - index === Object.keys(Object(first.data)).length
    if (failedBefore && isAll && refers(first.parentSchema)) noise.push(...errors.slice(index, end))
  }
  return noise
}

// Ajv coerces text that is not a number nevertheless, so that it can fail a limit as well. A limit says more than that digits are lost.
function coercedNevertheless(errors: readonly SchemaError[]): readonly SchemaError[] {
  return errors
    .filter(({ keyword }) => keyword === textNumber)
    .flatMap((error) => {
      const others = errors.filter((other) => other !== error && other.instancePath === error.instancePath)
      return 'type' in (error.params ?? {}) || others.length === 0 ? others : [error]
    })
}

function refers(schema: SchemaError['parentSchema']): boolean {
  if (schema === undefined) return false
  const { allOf } = schema
  return references.some((key) => key in schema) || (Array.isArray(allOf) && allOf.some((part) => refers(part)))
}

function isWithin(path = '', ancestor = '') {
  return path.startsWith(`${ancestor}/`)
}

function isAtOrBelow(path = '', ancestor = '') {
  return path === ancestor || isWithin(path, ancestor)
}

function documentOf({ schemaPath = '' }: SchemaError) {
  return /^[^#]*#(\/(\$defs|definitions)\/[^/]*)?/.exec(schemaPath)?.[0]
}
