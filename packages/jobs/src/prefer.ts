/** Preferences of a client (RFC 7240 §4.1, §4.2, §4.3). */
export interface Preferences {
  readonly respondAsync: boolean
  /** How long the client is willing to wait. */
  readonly waitSeconds: number | undefined
  /** Whether the client wants the record instead of a redirect. */
  readonly returnsRepresentation: boolean
}

/** The maximum length of `Prefer`, in characters. */
export const maxPreferLength = 2048

/** Parses the `Prefer` header. Ignores a header that is too long, preferences that it cannot parse, and repeated preferences after the first (RFC 7240 §2). */
export function preferencesOf(header: string | readonly string[] | undefined): Preferences {
  const preferences = new Map<string, string>()
  const text = String(header ?? '')
  for (const part of text.length > maxPreferLength ? [] : text.split(',')) {
    const [name = '', value = ''] = (part.split(';')[0] ?? '').split('=').map((text) => text.trim())
    const token = name.toLowerCase()
    if (!preferences.has(token)) preferences.set(token, value.replace(/^"(.*)"$/, '$1'))
  }
  const wait = preferences.get('wait') ?? ''
  return {
    respondAsync: preferences.get('respond-async') === '',
    waitSeconds: /^\d{1,6}$/.test(wait) ? Number(wait) : undefined,
    returnsRepresentation: preferences.get('return')?.toLowerCase() === 'representation'
  }
}
