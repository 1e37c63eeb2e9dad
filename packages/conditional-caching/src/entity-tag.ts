/** The value of `If-Match` or `If-None-Match`: `*` for any version, or a list of entity tags. */
export type TagList = '*' | readonly EntityTag[]

/** An entity tag without its quotes (RFC 9110 §8.8.3). */
export interface EntityTag {
  readonly opaque: string
  readonly isWeak: boolean
}

// Room for dozens of tags.
const maxListLength = 4096

const opaqueText = '[\\x21\\x23-\\x7e\\x80-\\xff]*'
// Empty members of a list are allowed (RFC 9110 §5.6.1.2).
const listMember = new RegExp(`[\\t ,]*(W/)?"(${opaqueText})"[\\t ]*(?=,|$)`, 'y')
const listEnd = /[\t ,]*$/y

/** Parses a tag; returns `undefined` if it is invalid. */
export function readTag(text: string): EntityTag | undefined {
  const isWeak = text.startsWith('W/')
  const start = isWeak ? 2 : 0
  const opaque = text.slice(start + 1, -1)
  const isQuoted = text.length > start + 1 && text.charCodeAt(start) === quote && text.charCodeAt(text.length - 1) === quote
  return isQuoted && isOpaque(opaque) ? { opaque, isWeak } : undefined
}

const quote = 0x22

/** Returns whether a text can be a tag: visible characters without spaces and quotes. Each response needs it, so it is a loop. */
export function isOpaque(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code < 0x21 || code === quote || code === 0x7f || code > 0xff) return false
  }
  return true
}

/** Parses a list of tags or `*`; returns `undefined` if any part is malformed, if `*` is in a list, or if the list is longer than 4,096 characters. */
export function readTagList(text: string): TagList | undefined {
  if (text.length > maxListLength) return undefined
  if (text.trim() === '*') return '*'
  const tags: EntityTag[] = []
  let place = 0
  do {
    listMember.lastIndex = place
    const [, weak, opaque] = listMember.exec(text) ?? []
    if (opaque === undefined) return undefined
    tags.push({ opaque, isWeak: weak !== undefined })
    place = listMember.lastIndex
    listEnd.lastIndex = place
  } while (!listEnd.test(text))
  return tags
}

/** Formats an entity tag as a header value, with its quotes. */
export function writeTag(opaque: string, isWeak = false): string {
  return isWeak ? `W/"${opaque}"` : `"${opaque}"`
}
