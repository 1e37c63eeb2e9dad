import { listElements, maxHeaderLength, weightOf } from './header-list.ts'
import { isUtf8, type MediaType, parseMediaType } from './media-type.ts'

/** The media type that every route can send, and sends unless the client requests another (rule S3). */
export const json = 'application/json'

interface Range {
  readonly essence: string
  /** 0 for any type, 1 for `type/*`, 2 for a type with parameters that are ignored, 3 for a type without such parameters. */
  readonly precedence: number
  readonly weight: number
}

const matchesNothing: Range = { essence: '', precedence: 0, weight: 0 }

/**
 * Returns the media type in `types` (in lower case, the preferred first) that an `Accept` header prefers (RFC 9110 §12.5.1, rules N1 and N2), or
 * undefined if it accepts none. A header that is absent, invalid or longer than 2,048 characters accepts every type. Never throws; takes linear time.
 */
export function chooseMediaType(accept: string | undefined, types: readonly string[]): string | undefined {
  const ranges = rangesOf(accept)
  if (ranges.length === 0) return types.includes(json) ? json : types[0]
  let best = matchesNothing
  let chosen: string | undefined
  for (const mediaType of types) {
    const match = narrowestRange(ranges, mediaType)
    // Types that the client lists come before those that only the range for any type matches, of which JSON comes first.
    const wins = match.weight > 0 && best.precedence === 0 && (match.precedence > 0 || mediaType === json)
    if (match.weight < best.weight || (match.weight === best.weight && !wins)) continue
    best = match
    chosen = mediaType
  }
  return chosen
}

/**
 * Returns whether an `Accept` header names a media type, and not only a range that includes it, with a higher weight than another type has. Both are in
 * lower case. Never throws; takes linear time.
 */
export function prefersType(accept: string | undefined, mediaType: string, other: string): boolean {
  const ranges = rangesOf(accept)
  const isNamed = ranges.some(({ essence }) => essence === mediaType)
  return isNamed && narrowestRange(ranges, mediaType).weight > narrowestRange(ranges, other).weight
}

function rangesOf(accept: string | undefined): readonly Range[] {
  if (accept === undefined || accept.length > maxHeaderLength) return []
  return listElements(accept).flatMap((element) => readRange(element) ?? [])
}

function narrowestRange(ranges: readonly Range[], mediaType: string): Range {
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
  // Old Java clients send a single asterisk for any type.
  const range = parseMediaType(element.replace(/^[ \t]*\*[ \t]*(?=;|$)/, '*/*'))
  if (range === undefined || /^\*\/[^*]/.test(range.essence)) return undefined
  if (!isUtf8(range) && range.parameters.get('charset') !== '*') return matchesNothing
  return { essence: range.essence, precedence: precedenceOf(range), weight: weightOf(range.parameters.get('q')) }
}

function precedenceOf({ essence, parameters }: MediaType) {
  if (essence === '*/*') return 0
  if (essence.endsWith('/*')) return 1
  for (const name of parameters.keys()) if (name !== 'q' && name !== 'charset') return 2
  return 3
}
