import { maxHeaderLength, memoize, weightOf } from '@concordat/plugin-kit/accept'
import { likelyTags, lookupTags } from '@concordat/plugin-kit/texts'

// A script is guessed for each range, which costs microseconds. Users do not read more languages than this.
const maxRanges = 20

/**
 * Returns a function that chooses a locale for an `Accept-Language` header by lookup (RFC 4647 §3.4), or else the first that it does not refuse with
 * `q=0`, or else the first. `zh-TW` matches `zh-Hant`, because its script is guessed. The function never throws.
 */
export function localeChooser(locales: readonly string[]): (header: string | undefined) => string {
  const fallback = locales[0] as string
  const byTag = new Map<string, string>()
  for (const locale of locales) if (!byTag.has(locale.toLowerCase())) byTag.set(locale.toLowerCase(), locale)
  for (const locale of locales)
    for (const tag of likelyTags(locale).slice(0, 1)) if (!byTag.has(tag.toLowerCase())) byTag.set(tag.toLowerCase(), locale)

  const chooseOnce = memoize((header) => {
    const ranges = header.split(',', maxRanges).flatMap((element) => readRange(element) ?? [])
    const refused = ranges.filter(({ weight }) => weight === 0)
    const isRefused = (locale: string) => refused.some(({ tag }) => `${locale.toLowerCase()}-`.startsWith(`${tag}-`))
    for (const { tag } of ranges.filter(({ weight }) => weight > 0).toSorted((a, b) => b.weight - a.weight)) {
      for (const candidate of lookupTags(tag)) {
        const locale = byTag.get(candidate.toLowerCase())
        if (locale !== undefined && !isRefused(locale)) return locale
      }
    }
    return locales.find((locale) => !isRefused(locale)) ?? fallback
  })
  return (header) => (header === undefined || header.length > maxHeaderLength ? fallback : chooseOnce(header))
}

function readRange(element: string) {
  const [, tag, q] = /^[ \t]*([a-z]{1,8}(?:-[a-z0-9]{1,8})*)[ \t]*(?:;[ \t]*q=([^ \t;]*)[ \t]*)?$/i.exec(element) ?? []
  return tag === undefined ? undefined : { tag: tag.toLowerCase(), weight: weightOf(q) }
}
