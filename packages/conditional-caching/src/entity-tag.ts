/** The value of `If-Match` or `If-None-Match`: `*` for any version, or a list of entity tags. */
export type TagList = '*' | readonly EntityTag[]

/** An entity tag without its quotes (RFC 9110 §8.8.3). */
export interface EntityTag {
  readonly opaque: string
  readonly isWeak: boolean
}

const opaqueText = '[\\x21\\x23-\\x7e\\x80-\\xff]*'
const wholeTag = new RegExp(`^(W/)?"(${opaqueText})"$`)
// Empty members of a list are allowed (RFC 9110 §5.6.1.2).
const listMember = new RegExp(`[\\t ,]*(W/)?"(${opaqueText})"[\\t ]*(?=,|$)`, 'y')
const listEnd = /[\t ,]*$/y

/** Parses a tag; returns `undefined` if it is invalid. */
export function readTag(text: string): EntityTag | undefined {
  const [, weak, opaque] = wholeTag.exec(text) ?? []
  return opaque === undefined ? undefined : { opaque, isWeak: weak !== undefined }
}

/** Parses a list of tags or `*`; returns `undefined` if any part is malformed, or if `*` is in a list. */
export function readTagList(text: string): TagList | undefined {
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
