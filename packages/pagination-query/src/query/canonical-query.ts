import type { Parameter } from '../declaration/bound-collection.ts'
import { encodeList, splitList } from './query-string.ts'

/**
 * Returns the query string that all links of a response share: the parameters of the request in canonical order, percent-encoded, without the
 * position of the page.
 */
export function canonicalQuery(inOrder: readonly Parameter[], given: readonly (string | undefined)[]): string {
  const parts: string[] = []
  for (const parameter of inOrder) {
    const text = given[parameter.index]
    if (text === undefined || isPosition(parameter)) continue
    parts.push(`${encodeURIComponent(parameter.name)}=${valueOf(parameter, text)}`)
  }
  return parts.join('&')
}

function isPosition({ role }: Parameter) {
  return role === 'page' || role === 'after' || role === 'offset' || role === 'limit'
}

function valueOf({ list }: Parameter, text: string) {
  return list ? encodeList([...new Set(splitList(text))]) : encodeURIComponent(text)
}
