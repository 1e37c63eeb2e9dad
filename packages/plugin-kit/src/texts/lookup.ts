/**
 * Returns the language tags that can replace a tag (RFC 4647 §3.4): the tag, the tag shortened step by step, the language with its likely script, and the
 * language alone: `zh-TW` may be replaced by `zh-Hant`, then by `zh`.
 */
export function lookupTags(tag: string): readonly string[] {
  const subtags = tag.split('-')
  const shortened = subtags.map((_, cut) => subtags.slice(0, subtags.length - cut).join('-'))
  return [tag, ...shortened.slice(1, -1), ...likelyTags(tag), ...shortened.slice(-1)]
}

/** Returns a tag with its likely script and region, then with its likely script only (UTS 35), or nothing for one that is not a language. */
export function likelyTags(tag: string): readonly string[] {
  try {
    const { language, script, region } = new Intl.Locale(tag).maximize()
    return [`${language}-${script}-${region}`, `${language}-${script}`]
  } catch {
    return []
  }
}
