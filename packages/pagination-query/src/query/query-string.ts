import { textWithoutTokens } from '@concordat/plugin-kit/links'
import { malformedUri } from '../errors.ts'
import type { Parameter } from './bound-collection.ts'

/** Returns whether the router also treats a semicolon as the start of the query string. Fastify accepts that option in two places. */
export function splitsAtSemicolon(initialConfig: object): boolean {
  type Delimiting = { readonly useSemicolonDelimiter?: boolean | undefined }
  const { useSemicolonDelimiter, routerOptions } = initialConfig as Delimiting & { readonly routerOptions?: Delimiting }
  return (routerOptions?.useSemicolonDelimiter ?? useSemicolonDelimiter) === true
}

/** Returns the path and the query string of a request target. The router also starts the query at a #, and optionally at a semicolon. */
export function splitTarget(target: string, semicolon: boolean): { readonly path: string; readonly query: string } {
  const start = target.search(semicolon ? /[?;#]/ : /[?#]/)
  return start === -1 ? { path: target, query: '' } : { path: target.slice(0, start), query: target.slice(start + 1) }
}

/**
 * Parses a query string in the encoding of HTML forms: `+` is a space, and other special characters are percent-encoded UTF-8. Calls `take` with each
 * pair until it returns false. Throws 400 for an invalid escape.
 */
export function readPairs(query: string, take: (name: string, value: string) => boolean): void {
  const plain = isPlain(query)
  for (let start = 0; start < query.length; ) {
    const ampersand = query.indexOf('&', start)
    const end = ampersand === -1 ? query.length : ampersand
    if (end > start) {
      const equals = query.indexOf('=', start)
      const middle = equals === -1 || equals > end ? end : equals
      const name = query.slice(start, middle)
      const value = query.slice(middle + 1, end)
      if (!(plain ? take(name, value) : take(decode(name), decode(value)))) return
    }
    start = end + 1
  }
}

function isPlain(text: string) {
  return !text.includes('%') && !text.includes('+')
}

function decode(text: string): string {
  if (isPlain(text)) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw malformedUri()
  }
}

const longestName = 100

/** Returns a name from a client for use in a response: short, without tokens and without characters that could disturb a terminal or a log. */
export function echo(given: string): string {
  const name = textWithoutTokens(given)
  const short = name.length <= longestName ? name : `${name.slice(0, longestName - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
  return short.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '\uFFFD')
}

/** Joins two comma-separated lists. A backslash at the end of the first must not escape the comma between them. */
export function joinLists(first: string, second: string): string {
  let end = first.length
  while (first[end - 1] === '\\') end -= 1
  return `${first}${(first.length - end) % 2 === 1 ? '\\' : ''},${second}`
}

/** Splits a list at its commas. `\,` is a comma within an item and `\\` a backslash; any other backslash is literal. */
export function splitList(text: string): string[] {
  if (!text.includes('\\')) return text.split(',')
  const items = ['']
  for (const [part] of text.matchAll(/\\[\\,]|[^\\,]+|\\|,/g)) {
    if (part === ',') items.push('')
    else items[items.length - 1] += part === '\\,' || part === '\\\\' ? part.slice(1) : part
  }
  return items
}

/** The unparsed values of the parameters, by parameter index. Repetitions of a list parameter are joined into a single list. */
export type Given = readonly (string | undefined)[]

/**
 * Returns the query string that all links of a response share: the parameters of the request in canonical order, percent-encoded, without the
 * position of the page.
 */
export function canonicalQuery(inOrder: readonly Parameter[], given: Given): string {
  let query = canonical.get(given)
  if (query === undefined) canonical.set(given, (query = queryOf(inOrder, given)))
  return query
}

// Requests with the same query share what was given.
const canonical = new WeakMap<Given, string>()

function queryOf(inOrder: readonly Parameter[], given: Given): string {
  const parts = inOrder.flatMap((parameter) => {
    const { name, role, index } = parameter
    const text = role === 'page' || role === 'after' ? undefined : given[index]
    return text === undefined ? [] : [`${encodeURIComponent(name)}=${encoded(parameter, text)}`]
  })
  return parts.join('&')
}

// `splitList` splits an encoded list into the same items after decoding.
function encoded({ list }: Parameter, text: string) {
  if (!list) return encodeURIComponent(text)
  return [...new Set(splitList(text))].map((item) => encodeURIComponent(item.replaceAll(/[\\,]/g, String.raw`\$&`))).join(',')
}
