import type { BoundCollection, PagingRole } from '../declaration/bound-collection.ts'
import type { QueryProblem } from '../errors.ts'

/** Which part of the list is wanted. */
export interface Paging {
  readonly perPage: number
  /** 1 of collections by cursor. */
  readonly page: number
  readonly offset: number
  /** The cursor, unread. */
  readonly after: string | undefined
  /** By offset and limit, which are only there for the time of a move (rule Q9). */
  readonly transitional: boolean
}

const positive = /^[1-9]\d*$/
const natural = /^(?:0|[1-9]\d*)$/

/** Reads the parameters that choose a page, and adds what is wrong with them to `problems`. */
export function readPaging(collection: BoundCollection, given: readonly (string | undefined)[], problems: QueryProblem[]): Paging {
  const { maxOffset, places } = collection
  const transitional = textOf('offset') !== undefined || textOf('limit') !== undefined
  if (transitional) {
    for (const role of ['page', 'perPage'] as const) if (textOf(role) !== undefined) problems.push({ field: role, key: 'mixedStyles' })
  }
  const perPage = transitional ? readSize('limit') : readSize('perPage')
  const after = textOf('after')
  if (transitional) {
    const offset = readPosition('offset', natural, 0, (value) => value + perPage)
    return { perPage, page: Math.floor(offset / perPage) + 1, offset, after, transitional }
  }
  const page = readPosition('page', positive, 1, (value) => value * perPage)
  return { perPage, page, offset: (page - 1) * perPage, after, transitional }

  function textOf(role: PagingRole) {
    const place = places[role]
    return place === undefined ? undefined : given[place]
  }

  function readSize(role: 'limit' | 'perPage') {
    const { default: usual, max } = collection.perPage
    const text = textOf(role)
    if (text === undefined) return usual
    const size = positive.test(text) ? Number(text) : 0
    if (size > 0 && size <= max) return size
    problems.push({ field: role, key: 'notBetween', params: { min: 1, max } })
    return usual
  }

  function readPosition(role: 'page' | 'offset', shape: RegExp, usual: number, endOf: (value: number) => number) {
    const text = textOf(role)
    if (text === undefined) return usual
    if (!shape.test(text)) {
      problems.push({ field: role, key: 'notBetween', params: { min: usual, max: maxOffset } })
    } else if (endOf(Number(text)) > maxOffset) {
      problems.push({ field: role, key: 'pageTooDeep', params: { max: maxOffset } })
    } else return Number(text)
    return usual
  }
}
