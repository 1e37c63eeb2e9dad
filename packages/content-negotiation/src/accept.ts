import { listElements, weightOf } from './header-list.ts'
import { isUtf8, type MediaType, parseMediaType } from './media-type.ts'

/** What every route can answer, and does unless the client asks for something else (rule S3). */
export const json = 'application/json'

interface Range {
  readonly essence: string
  /** How narrow it is: 0 for any type, 1 for `type/*`, 2 for a type with parameters that are not ours, 3 for exactly that type. */
  readonly precedence: number
  readonly weight: number
}

const matchesNothing: Range = { essence: '', precedence: 0, weight: 0 }

/**
 * The media type for an `Accept` header (RFC 9110 §12.5.1, rules N1 and N2), or nothing when none is acceptable.
 * The narrowest range that matches a type gives its weight. The heaviest type wins; of equals, one that the client names
 * or whose `type/*` it names, then the order of `available`. What only any type (`*` `/*`) matches is JSON first.
 * A header without one readable element counts as absent.
 */
export function chooseMediaType(accept: string, available: readonly string[]): string | undefined {
  const ranges = listElements(accept)
    .map(readRange)
    .filter((range) => range !== undefined)
  if (ranges.length === 0) return json
  let best = matchesNothing
  let chosen: string | undefined
  for (const mediaType of available) {
    const match = narrowestRange(ranges, mediaType)
    const isBetter = match.weight > best.weight || (match.weight === best.weight && match.weight > 0 && beats(match, best, mediaType))
    if (!isBetter) continue
    best = match
    chosen = mediaType
  }
  return chosen
}

function beats(match: Range, best: Range, mediaType: string) {
  return best.precedence === 0 && (match.precedence > 0 || mediaType === json)
}

function narrowestRange(ranges: readonly Range[], mediaType: string) {
  const wholeType = `${mediaType.slice(0, mediaType.indexOf('/'))}/*`
  let narrowest: Range | undefined
  for (const range of ranges) {
    if (range.essence !== mediaType && range.essence !== wholeType && range.essence !== '*/*') continue
    const difference = narrowest === undefined ? 1 : range.precedence - narrowest.precedence || range.weight - narrowest.weight
    if (difference > 0) narrowest = range
  }
  return narrowest ?? matchesNothing
}

function readRange(element: string): Range | undefined {
  // Old Java clients send a lone asterisk for any type.
  const range = parseMediaType(element.replace(/^[ \t]*\*[ \t]*(?=;|$)/, '*/*'))
  if (range === undefined || /^\*\/[^*]/.test(range.essence)) return undefined
  if (!isUtf8(range)) return matchesNothing
  return { essence: range.essence, precedence: precedenceOf(range), weight: weightOf(range.parameters.get('q')) }
}

function precedenceOf({ essence, parameters }: MediaType) {
  if (essence === '*/*') return 0
  if (essence.endsWith('/*')) return 1
  for (const name of parameters.keys()) if (name !== 'q' && name !== 'charset') return 2
  return 3
}
