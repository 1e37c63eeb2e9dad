/** Part of a path between two slashes. */
export interface Segment {
  readonly text: string
  readonly kind: 'static' | 'parameter' | 'wildcard' | 'mixed' | 'empty'
}

/** Path of a route, split at its version. */
export interface RoutePath {
  /** Version segment, even if it is invalid, for example `v01`; `undefined` if the path has no version segment. */
  readonly version: string | undefined
  /** Segments after the version; without a version, the whole path. */
  readonly segments: readonly Segment[]
}

/** Parses the path of a route. The part before the version belongs to the base URL and is ignored. */
export function readRoutePath(url: string): RoutePath {
  // The pattern of a parameter may contain slashes, so it is removed first.
  const texts = url
    .replace(/\((?:[^()]|\([^()]*\))*\)/g, '')
    .split('/')
    .slice(1)
  const at = texts.findIndex((text) => /^v\d+(?:\.\d+)*$/i.test(text))
  return { version: texts[at], segments: texts.slice(at + 1).map((text) => ({ text, kind: kindOf(text) })) }
}

function kindOf(text: string): Segment['kind'] {
  if (text === '') return 'empty'
  if (text.includes('*')) return 'wildcard'
  if (/^:\w+$/.test(text)) return 'parameter'
  return /(?<!:):(?!:)/.test(text) ? 'mixed' : 'static'
}

/** Returns the words of a segment in lower case: `order-items`, `orderItems` and `order_items` have two words. */
export function wordsOf(text: string): readonly string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
}
