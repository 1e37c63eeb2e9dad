/** One part of a path between two slashes. */
export interface Segment {
  readonly text: string
  readonly kind: 'static' | 'parameter' | 'wildcard' | 'mixed' | 'empty'
}

/** A route's path, taken apart at its version. */
export interface RoutePath {
  /** What stands for the version, also when it is written wrongly, as `v01`; `undefined` outside every version. */
  readonly version: string | undefined
  /** What follows the version; without a version, the whole path. */
  readonly segments: readonly Segment[]
}

/** Takes a route's path apart. What stands before the version belongs to the base address and is not looked at. */
export function readRoutePath(url: string): RoutePath {
  // The pattern of a parameter may hold slashes, so it goes first.
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

/** The words of a segment in lower case: `order-items`, `orderItems` and `order_items` all have two. */
export function wordsOf(text: string): readonly string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
}
