import { nearestName } from '@concordat/plugin-kit/options'
import { deletionConditions } from '../declaration/deleted-rows.ts'
import { nameOfKey } from '../declaration/field.ts'
import { maxListItems } from '../declaration/parameter-objects.ts'
import { reservedNames } from '../declaration/rules.ts'
import { maxProblems, type QueryProblem } from '../errors.ts'
import type { Condition, ListQuery, SortKey } from '../list/list-query.ts'
import type { RequestedRelations } from '../list/related.ts'
import { decidingKeys } from '../list/sort-order.ts'
import type { BoundCollection, Parameter } from './bound-collection.ts'
import { conditionOf } from './condition-reader.ts'
import { readInclude, splitFields } from './include-reader.ts'
import { type Paging, readPaging } from './paging-reader.ts'
import { canonicalQuery, echo, type Given, joinLists, readPairs } from './query-string.ts'

/** The maximum length of a query, in characters. A cursor has its own limit. */
const maxQueryLength = 4096
const maxConditions = 20
const tooLong: readonly QueryProblem[] = [{ field: 'query', key: 'queryTooLong', params: { max: maxQueryLength } }]
const maxSearched = 10
const none: RequestedRelations = new Map()

/** The parsed content of a query string, which is the same for all clients that can read the same fields. */
export interface Reading {
  /** The errors of the parameters. Empty if all are valid. */
  readonly problems: readonly QueryProblem[]
  readonly given: Given
  readonly conditions: readonly Condition[]
  readonly order: readonly SortKey[]
  /** The requested fields, or undefined without the parameter `fields`. */
  readonly requested: readonly string[] | undefined
  readonly fields: readonly string[]
  /** Whether the deleted rows are requested. */
  readonly areDeleted: boolean
  /** The relations to include. */
  readonly include: RequestedRelations
  readonly paging: Paging
}

/** Parses a query string. Fields in `hidden` give the same errors as fields that do not exist. */
export function readQuery(collection: BoundCollection, query: string, hidden: ReadonlySet<string>): Reading {
  if (query.length > maxQueryLength && query.replace(/(^|&)after=[^&]*/, '').length > maxQueryLength)
    return { ...readParameters(collection, '', hidden), problems: tooLong }
  const reading = readParameters(collection, query, hidden)
  // The links of the response must be within the limit too, or clients could not follow them. Encoding turns a character into at most three.
  const isTooLong =
    query.length * 3 > maxQueryLength &&
    reading.problems.length === 0 &&
    canonicalQuery(collection.inOrder, reading.given).length > maxQueryLength
  return isTooLong ? { ...reading, problems: tooLong } : reading
}

function readParameters(collection: BoundCollection, query: string, hidden: ReadonlySet<string>): Reading {
  const { sorts, defaultSort, inOrder } = collection
  const problems: QueryProblem[] = []
  const given = collect(collection, query, hidden, problems)
  const conditions: Condition[] = []
  let order = sorts.get(defaultSort) as readonly SortKey[]
  let requested: readonly string[] | undefined
  let include: RequestedRelations = none
  let areDeleted = false
  for (const parameter of inOrder) {
    const text = given[parameter.index]
    if (text === undefined) continue
    if (parameter.role === 'filter') {
      const condition = conditionOf(parameter, text)
      if ('key' in condition) problems.push({ field: parameter.name, ...condition })
      else if (conditions.push(condition) === maxConditions + 1)
        problems.push({ field: parameter.name, key: 'tooManyConditions', params: { max: maxConditions } })
    } else if (parameter.role === 'deleted') areDeleted = readFlag('deleted', text, problems)
    else if (parameter.role === 'sort') order = readSort(text, collection, hidden, problems) ?? order
    else if (parameter.role === 'include') include = readInclude(text, collection.relations, problems)
    else if (parameter.role === 'fields') {
      const { own, chosen } = splitFields(text.split(','), collection.relations, include, problems)
      include = chosen
      requested = readFieldNames(own, collection.fieldNames, (name) => collection.fields.has(name) && !hidden.has(name), problems)
    }
  }
  const paging = readPaging(collection, given, problems)
  const fields = shownFields(requested, collection, hidden)
  conditions.push(...deletionConditions(collection, areDeleted))
  return { problems, given, conditions, order: decidingKeys(order, conditions), requested, fields, areDeleted, include, paging }
}

/** Reads a parameter that is true or false. */
export function readFlag(field: string, text: string, problems: QueryProblem[]): boolean {
  if (text !== 'true' && text !== 'false') problems.push({ field, key: 'notOneOf', params: { allowed: 'true, false' } })
  return text === 'true'
}

function readSort(wanted: string, { sorts }: BoundCollection, hidden: ReadonlySet<string>, problems: QueryProblem[]) {
  const found = sorts.get(wanted)
  if (found !== undefined && (hidden.size === 0 || isShown(wanted, hidden))) return found
  const allowed = [...sorts.keys()].filter((sort) => isShown(sort, hidden)).join('; ')
  problems.push({ field: 'sort', key: 'unsupportedSort', params: { allowed } })
  return undefined
}

function isShown(sort: string, hidden: ReadonlySet<string>) {
  return sort.split(',').every((key) => !hidden.has(nameOfKey(key)))
}

/** Returns the names in a list of fields, or undefined with a problem if the list is too long, or has a name that is not allowed or occurs twice. */
export function readFieldNames(
  names: readonly string[],
  known: readonly string[],
  isAllowed: (name: string) => boolean,
  problems: QueryProblem[]
): readonly string[] | undefined {
  if (names.length > maxListItems) problems.push({ field: 'fields', key: 'tooManyItems', params: { max: maxListItems } })
  else if (!names.every(isAllowed))
    problems.push({ field: 'fields', key: 'unknownField', params: { allowed: known.filter(isAllowed).join(', ') } })
  else if (new Set(names).size < names.length) problems.push({ field: 'fields', key: 'repeatedField' })
  else return names
  return undefined
}

function shownFields(requested: readonly string[] | undefined, { id, fieldNames }: BoundCollection, hidden: ReadonlySet<string>) {
  if (requested !== undefined) return fieldNames.filter((name) => name === id || requested.includes(name))
  return hidden.size === 0 ? fieldNames : fieldNames.filter((name) => !hidden.has(name))
}

function collect(collection: BoundCollection, query: string, hidden: ReadonlySet<string>, problems: QueryProblem[]): Given {
  const given: (string | undefined)[] = collection.inOrder.map(() => undefined)
  const repeated: Parameter[] = []
  readPairs(query, (name, value) => {
    const parameter = collection.byName.get(name)
    if (parameter === undefined || !isVisible(parameter, hidden)) {
      problems.push(problemOfName(collection, name, hidden, problems.length < maxSearched))
      return problems.length < maxProblems
    }
    const before = given[parameter.index]
    if (before === undefined) given[parameter.index] = value
    else if (parameter.list) given[parameter.index] = joinLists(before, value)
    else if (!repeated.includes(parameter)) {
      repeated.push(parameter)
      problems.push({ field: name, key: 'duplicate' })
    }
    return true
  })
  return given
}

const unrestricted = [{ equal: [] }]

/** Returns the query for an adapter, without the position from a cursor. */
export function listQueryOf(collection: BoundCollection, { conditions, order, fields, paging }: Reading): ListQuery {
  const { name, id, kinds, numberTexts, count } = collection
  const { perPage, offset } = paging
  return { name, id, conditions, order, fields, kinds, numberTexts, perPage, reverse: false, offset, ranges: unrestricted, count }
}

// Returns whether a client that may not read the fields in `hidden` can use a parameter.
function isVisible(parameter: Parameter, hidden: ReadonlySet<string>): boolean {
  if (parameter.role !== 'filter' || hidden.size === 0) return true
  return !(parameter.anyOf ?? [parameter.field.name]).some((name) => hidden.has(name))
}

// Returns the error for a parameter name that is unknown in the collection or hidden from this client.
function problemOfName(collection: BoundCollection, name: string, hidden: ReadonlySet<string>, search: boolean): QueryProblem {
  const field = echo(name)
  if (reservedNames.has(name)) {
    return { field, key: 'wrongStyle', params: { allowed: collection.style === 'page' ? 'page, perPage' : 'after, perPage' } }
  }
  const bracket = name.search(/[[\]]/)
  if (name === '' || (bracket !== -1 && !/^[^[\]]+\[[^[\]]+\]$/.test(name))) return { field, key: 'malformed' }
  const visible = collection.inOrder.filter((parameter) => isVisible(parameter, hidden))
  const base = bracket === -1 ? name : name.slice(0, bracket)
  const operators = visible.flatMap((parameter) =>
    parameter.role === 'filter' && parameter.field.name === base ? [parameter.operator] : []
  )
  if (operators.length > 0) return { field, key: 'unknownOperator', params: { allowed: operators.join(', ') } }
  return unknownParameter(name, search ? visible.map((parameter) => parameter.name) : [])
}

/** Returns the error for an unknown parameter name, with the name that was probably meant, if one is similar. */
export function unknownParameter(name: string, names: readonly string[]): QueryProblem {
  const nearest = nearestName(name, names)
  const field = echo(name)
  return nearest === undefined ? { field, key: 'unknownParameter' } : { field, key: 'unknownParameterNear', params: { nearest } }
}
