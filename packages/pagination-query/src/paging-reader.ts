import type { BoundCollection, Parameter } from './bound-collection.ts'
import type { QueryProblem } from './errors.ts'

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
export function readPaging(
  collection: BoundCollection,
  given: readonly (readonly string[] | undefined)[],
  problems: QueryProblem[]
): Paging {
  const { maxOffset, inOrder } = collection
  const texts = new Map<Parameter['role'], string>()
  for (let index = inOrder.length - 1; index >= 0; index -= 1) {
    const { role, list } = inOrder[index] as Parameter
    if (list) break
    const [text] = given[index] ?? []
    if (text !== undefined) texts.set(role, text)
  }
  const transitional = texts.has('offset') || texts.has('limit')
  if (transitional) for (const role of ['page', 'perPage'] as const) if (texts.has(role)) problems.push({ field: role, key: 'mixedStyles' })

  const perPage = transitional ? readSize('limit') : readSize('perPage')
  const after = texts.get('after')
  if (transitional) {
    const offset = readPosition('offset', natural, 0, (value) => value + perPage)
    return { perPage, page: Math.floor(offset / perPage) + 1, offset, after, transitional }
  }
  const page = readPosition('page', positive, 1, (value) => value * perPage)
  return { perPage, page, offset: (page - 1) * perPage, after, transitional }

  function readSize(role: 'limit' | 'perPage') {
    const { default: usual, max } = collection.perPage
    const text = texts.get(role)
    if (text === undefined) return usual
    if (positive.test(text) && Number(text) <= max) return Number(text)
    problems.push({ field: role, key: 'notBetween', params: { min: 1, max } })
    return usual
  }

  function readPosition(role: 'page' | 'offset', shape: RegExp, usual: number, endOf: (value: number) => number) {
    const text = texts.get(role)
    if (text === undefined) return usual
    if (!shape.test(text)) {
      problems.push({ field: role, key: 'notBetween', params: { min: usual, max: maxOffset } })
    } else if (endOf(Number(text)) > maxOffset) {
      problems.push({ field: role, key: 'pageTooDeep', params: { max: maxOffset } })
    } else return Number(text)
    return usual
  }
}
