/** What a client prefers (RFC 7240 §4.1, §4.2, §4.3). */
export interface Preferences {
  readonly respondAsync: boolean
  /** For how long it would wait. */
  readonly waitSeconds: number | undefined
  /** It wants the record rather than to be sent on. */
  readonly returnsRepresentation: boolean
}

/** Reads `Prefer`; what can't be understood is not there, as RFC 7240 §2 asks. Of a preference that is named twice, the first counts. */
export function preferencesOf(header: string | readonly string[] | undefined): Preferences {
  const wishes = new Map<string, string>()
  for (const part of String(header ?? '').split(',')) {
    const [name = '', value = ''] = (part.split(';')[0] ?? '').split('=').map((text) => text.trim())
    const token = name.toLowerCase()
    if (!wishes.has(token)) wishes.set(token, value.replace(/^"(.*)"$/, '$1'))
  }
  const wait = wishes.get('wait') ?? ''
  return {
    respondAsync: wishes.get('respond-async') === '',
    waitSeconds: /^\d{1,6}$/.test(wait) ? Number(wait) : undefined,
    returnsRepresentation: wishes.get('return')?.toLowerCase() === 'representation'
  }
}
