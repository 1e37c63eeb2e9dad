import type { QueryProblem } from '../errors.ts'
import type { BoundCollection, PagingRole } from './bound-collection.ts'
import type { Given } from './query-string.ts'

/** The part of the list that the client requests. */
export interface Paging {
  readonly perPage: number
  /** The number of the page, only with the style `page`; otherwise 1. */
  readonly page: number
  readonly offset: number
  /** The cursor, not yet parsed. */
  readonly after: string | undefined
  /** Whether the request uses `offset` and `limit`, which exist only for a migration (rule Q9). */
  readonly transitional: boolean
}

const positive = /^[1-9]\d*$/
const natural = /^(?:0|[1-9]\d*)$/

/** Parses the parameters that select a page, and adds their errors to `problems`. */
export function readPaging(collection: BoundCollection, given: Given, problems: QueryProblem[]): Paging {
  const after = textOf(collection, given, 'after')
  if (textOf(collection, given, 'offset') !== undefined || textOf(collection, given, 'limit') !== undefined)
    return readTransitional(collection, given, problems, after)
  const perPage = readSize(collection, given, problems, 'perPage')
  const text = textOf(collection, given, 'page')
  const page = text === undefined ? 1 : readPosition(text, 'page', perPage, collection, problems)
  return { perPage, page, offset: (page - 1) * perPage, after, transitional: false }
}

function readTransitional(collection: BoundCollection, given: Given, problems: QueryProblem[], after: string | undefined): Paging {
  for (const role of ['page', 'perPage'] as const) {
    if (textOf(collection, given, role) !== undefined) problems.push({ field: role, key: 'mixedStyles' })
  }
  const perPage = readSize(collection, given, problems, 'limit')
  const text = textOf(collection, given, 'offset')
  const offset = text === undefined ? 0 : readPosition(text, 'offset', perPage, collection, problems)
  return { perPage, page: Math.floor(offset / perPage) + 1, offset, after, transitional: true }
}

function textOf({ places }: BoundCollection, given: Given, role: PagingRole) {
  const place = places[role]
  return place === undefined ? undefined : given[place]
}

function readSize(collection: BoundCollection, given: Given, problems: QueryProblem[], role: 'limit' | 'perPage') {
  const { default: usual, max } = collection.perPage
  const text = textOf(collection, given, role)
  if (text === undefined) return usual
  const size = positive.test(text) ? Number(text) : 0
  if (size > 0 && size <= max) return size
  problems.push({ field: role, key: 'notBetween', params: { min: 1, max } })
  return usual
}

/** Parses a page number, which starts at 1, or an offset, which starts at 0. If the value is invalid, it returns the first. */
function readPosition(
  text: string,
  role: 'page' | 'offset',
  perPage: number,
  { maxOffset }: BoundCollection,
  problems: QueryProblem[]
): number {
  const first = role === 'page' ? 1 : 0
  if (!(role === 'page' ? positive : natural).test(text)) {
    problems.push({ field: role, key: 'notBetween', params: { min: first, max: maxOffset } })
    return first
  }
  const position = Number(text)
  if ((role === 'page' ? position * perPage : position + perPage) <= maxOffset) return position
  problems.push({ field: role, key: 'pageTooDeep', params: { max: maxOffset } })
  return first
}
