import { isObject, pointerOf } from '@concordat/plugin-kit/json-schema'
import type { SchemaError } from './schema-error.ts'

interface Branch {
  readonly schema: unknown
  readonly errors: readonly SchemaError[]
}

const maxAlternativeErrors = 20
const wholeValueKeywords = new Set(['type', 'const', 'enum', 'typeOrEnum', 'false schema'])

/**
 * Returns what a client must change, in place of the error of a union: the errors of the branch that constants of members select; if they select none,
 * the member and its values; without constants, the errors of every branch that allows the type of the value, and one that says so.
 */
export function errorsOfUnion(union: SchemaError, errors: readonly (readonly SchemaError[])[]): readonly SchemaError[] {
  const { instancePath: place = '', keyword = '', parentSchema, data } = union
  const schemas = parentSchema?.[keyword] as readonly unknown[]
  const branches = errors.map((own, index) => ({ schema: schemas[index], errors: own }))
  if (errors.every((own) => own.some((error) => isOfWholeValue(error, place)))) return [errorOfValue(place, errors.flat()) ?? union]
  const fitting = branches.filter((branch) => branch.errors.every((error) => !isOfWholeValue(error, place) || allowsTypeOf(error, data)))
  const { selected, tags } = selectBranches(union, fitting)
  if (tags.length > 0) return tags
  const all = selected.flatMap((branch) => branch.errors)
  return selected.length === 1 ? all : alternatives(union, all)
}

function isOfWholeValue({ keyword = '', instancePath }: SchemaError, place: string) {
  return instancePath === place && wholeValueKeywords.has(keyword)
}

function allowsTypeOf(error: SchemaError, value: unknown) {
  return allowedBy(error)?.some((allowed) => typeof allowed === typeof value) ?? false
}

// No branch allows the value itself. A branch with a constant often has a type as well, which says less.
function errorOfValue(instancePath: string, errors: readonly SchemaError[]): SchemaError | undefined {
  const own = errors.filter((error) => isOfWholeValue(error, instancePath))
  const allowed = own.flatMap((error) => allowedBy(error) ?? [])
  const literalSchemas = new Set(own.flatMap((error) => (allowedBy(error) === undefined ? [] : [error.parentSchema])))
  const type = own.flatMap(({ params, parentSchema }) => (parentSchema && literalSchemas.has(parentSchema) ? [] : (params?.['type'] ?? [])))
  if (type.length === 0) return allowed.length === 0 ? undefined : literalError(instancePath, allowed)
  const params = { type: [...new Set(type)] }
  if (allowed.length === 0) return { keyword: 'type', instancePath, params }
  return { ...literalError(instancePath, allowed, params), keyword: 'typeOrEnum' }
}

// `tags` are the errors of the members whose values no branch allows, if they select no branch.
function selectBranches(union: SchemaError, branches: readonly Branch[]) {
  const rejections = new Map(branches.map((branch) => [branch, rejectedMembers(union, branch)]))
  const tags: SchemaError[] = []
  let selected = branches
  let isDecided = false
  for (const path of likelyTags(union, rejections)) {
    const left = selected.filter((branch) => !rejections.get(branch)?.has(path))
    if (left.length > 0 && !isDecided) selected = left
    const values = valuesOf(rejections, path)
    if (values.length < branches.length) continue
    // Each branch has values of its own.
    const isTag = new Set(values.map(String)).size > 1
    if (!isTag || (!isDecided && selected === branches)) tags.push(literalError(path, values.flat()))
    isDecided ||= isTag
  }
  return selected === branches ? { selected, tags } : { selected, tags: [] }
}

type Rejections = ReadonlyMap<Branch, ReadonlyMap<string, readonly unknown[]>>

function valuesOf(rejections: Rejections, path: string) {
  return [...rejections.values()].map((members) => members.get(path)).filter((values) => values !== undefined)
}

// Members of the value that a branch rejects for a constant or a list of values, by path, with the values that it allows.
function rejectedMembers(
  { instancePath: place = '', data }: SchemaError,
  { schema, errors }: Branch
): ReadonlyMap<string, readonly unknown[]> {
  const rejected = new Map<string, readonly unknown[]>()
  for (const { instancePath = '', parentSchema, params } of errors) {
    const missing = instancePath === place ? params?.['missingProperty'] : undefined
    const path = typeof missing === 'string' ? place + pointerOf([missing]) : instancePath
    const isMember = path.startsWith(`${place}/`) && !path.includes('/', place.length + 1)
    const allowed = typeof missing === 'string' ? literalsOf(parentSchema, missing) : allowedBy({ params })
    if (isMember && allowed !== undefined) rejected.set(path, allowed)
  }
  // A validator that stops at the first error of a branch may not have come to its constants.
  for (const [name, value] of isObject(data) ? Object.entries(data) : []) {
    const allowed = literalsOf(schema, name)
    if (allowed && !allowed.includes(value) && allowed.every((one) => !isObject(one))) rejected.set(place + pointerOf([name]), allowed)
  }
  return rejected
}

// The most likely first: the declared one, members with one value in each branch, members that most branches declare or reject. A list of values
// that only some branches have is an ordinary member.
function likelyTags(union: SchemaError, rejections: Rejections): readonly string[] {
  const discriminator = union.parentSchema?.['discriminator']
  const ranked = [...new Set([...rejections.values()].flatMap((members) => [...members.keys()]))].flatMap((path) => {
    const values = valuesOf(rejections, path)
    const name = path.slice((union.instancePath ?? '').length + 1)
    const isDeclared = isObject(discriminator) && discriminator['propertyName'] === name
    const known = [...rejections].filter(([{ schema }, members]) => members.has(path) || literalsOf(schema, name) !== undefined)
    const isLikely = isDeclared || values.some(({ length }) => length === 1) || known.length === rejections.size
    const isSingle = values.every(({ length }) => length === 1)
    return isLikely ? [{ path, rank: (isDeclared ? 1e6 : 0) + (isSingle ? 1e3 : 0) + known.length + values.length }] : []
  })
  return ranked.toSorted((one, other) => other.rank - one.rank).map(({ path }) => path)
}

function alternatives(union: SchemaError, errors: readonly SchemaError[]): readonly SchemaError[] {
  const literals = new Map<string, unknown[]>()
  const others = errors.filter((error) => {
    const allowed = allowedBy(error)
    if (allowed === undefined) return true
    const path = error.instancePath ?? ''
    literals.set(path, [...(literals.get(path) ?? []), ...allowed])
    return false
  })
  const all = [...others, ...[...literals].map(([path, allowed]) => literalError(path, allowed))]
  return all.length > maxAlternativeErrors ? [union] : [{ keyword: 'noAlternative', instancePath: union.instancePath }, ...all]
}

function literalError(instancePath: string, allowedValues: readonly unknown[], params: SchemaError['params'] = {}): SchemaError {
  return { keyword: 'enum', instancePath, params: { ...params, allowedValues: [...new Set(allowedValues)] } }
}

/** Returns the values that an error of `const` or `enum` names. */
export function allowedBy({ params = {} }: SchemaError): readonly unknown[] | undefined {
  if (Array.isArray(params['allowedValues'])) return params['allowedValues']
  return 'allowedValue' in params ? [params['allowedValue']] : undefined
}

// The values that a schema allows for a member, if it lists them.
function literalsOf(schema: unknown, name: string): readonly unknown[] | undefined {
  const properties = isObject(schema) ? schema['properties'] : undefined
  const member = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  if (!isObject(member)) return undefined
  if ('const' in member) return [member['const']]
  return Array.isArray(member['enum']) ? member['enum'] : undefined
}
