import { textNumber } from './exact-numbers.ts'
import type { SchemaError } from './schema-error.ts'
import { errorsOfUnion } from './union-errors.ts'

const unions = new Set(['anyOf', 'oneOf'])
const references = ['$ref', 'anyOf', 'oneOf', 'then', 'else']

/**
 * Returns the errors from Ajv without those that only follow from another, and those of a union as what a client must change. Ajv lists the errors of
 * the branches of a union, or of a property name, directly before the error of the union or name, and unevaluated properties last.
 */
export function withoutNoise(errors: readonly SchemaError[]): readonly SchemaError[] {
  // A failed branch can be a union too. The properties that it evaluated are reported as unknown as well.
  const failedUnions = new Set(errors.flatMap(({ keyword = '', instancePath }) => (unions.has(keyword) ? [instancePath] : [])))
  const noise = new Set(errors.filter(({ keyword, instancePath }) => keyword === 'unevaluatedProperties' && failedUnions.has(instancePath)))
  for (const error of [...notEvaluatedAtAll(errors), ...coercedNevertheless(errors)]) noise.add(error)
  const reported: (readonly SchemaError[])[] = []
  for (let index = errors.length - 1; index >= 0; index--) {
    const error = errors[index] as SchemaError
    const isUnion = unions.has(error.keyword ?? '')
    const branches = isUnion ? branchesOf(errors, index) : undefined
    if (isUnion) reported.push(unionErrors(error, branches))
    else if (error.keyword !== 'if' && !noise.has(error)) reported.push([error])
    if (isUnion || error.keyword === 'propertyNames') index = branches?.start ?? startOfBranches(errors, index)
  }
  return reported.toReversed().flat()
}

function unionErrors(union: SchemaError, branches: ReturnType<typeof branchesOf>): readonly SchemaError[] {
  if (Array.isArray(union.params?.['passingSchemas'])) return [{ ...union, keyword: 'severalAlternatives' }]
  return branches === undefined ? [union] : errorsOfUnion(union, branches.errors.map(withoutNoise))
}

// The validators of this package count the errors of each branch, others do not.
function branchesOf(errors: readonly SchemaError[], index: number) {
  const ends = errors[index]?.params?.['branchEnds'] as readonly number[] | undefined
  if (ends === undefined) return undefined
  const at = (end = 0) => index + end - (ends.at(-1) ?? 0)
  return { start: at(ends[0]), errors: ends.slice(1).map((end, branch) => errors.slice(at(ends[branch]), at(end))) }
}

// Without counts: the errors of the branches of a union are at or below its value, and below its schema or in a referenced schema.
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
