import type { QueryProblem } from '../errors.ts'
import type { BoundCollection } from './bound-collection.ts'
import type { Given } from './query-string.ts'

/** The part of the list that the client requests. */
export interface Paging {
  readonly perPage: number
  /** The number of the page, only with the style `page`; otherwise 1. */
  readonly page: number
  readonly offset: number
  /** The cursor, not yet parsed. */
  readonly after: string | undefined
}

const positive = /^[1-9]\d*$/

/** Parses the parameters that select a page, and adds their errors to `problems`. */
export function readPaging(collection: BoundCollection, given: Given, problems: QueryProblem[]): Paging {
  const perPage = readSize(collection, given, problems)
  const page = readPage(collection, given, perPage, problems)
  return { perPage, page, offset: (page - 1) * perPage, after: textOf(collection, given, 'after') }
}

function textOf({ byName }: BoundCollection, given: Given, name: 'perPage' | 'page' | 'after') {
  const parameter = byName.get(name)
  return parameter && given[parameter.index]
}

function readSize(collection: BoundCollection, given: Given, problems: QueryProblem[]) {
  const { default: usual, max } = collection.perPage
  const text = textOf(collection, given, 'perPage')
  if (text === undefined) return usual
  const size = positive.test(text) ? Number(text) : 0
  if (size > 0 && size <= max) return size
  problems.push({ field: 'perPage', key: 'notBetween', params: { min: 1, max } })
  return usual
}

function readPage(collection: BoundCollection, given: Given, perPage: number, problems: QueryProblem[]) {
  const { maxOffset: max } = collection
  const text = textOf(collection, given, 'page') ?? '1'
  if (!positive.test(text)) problems.push({ field: 'page', key: 'notBetween', params: { min: 1, max } })
  else if (Number(text) * perPage > max) problems.push({ field: 'page', key: 'pageTooDeep', params: { max } })
  else return Number(text)
  return 1
}
