/** The error for a value that a store would change or refuse, each time that the job runs. */
export class UnstorableValue extends TypeError {}

/** Returns a value as JSON text, or undefined for undefined. Throws an {@link UnstorableValue} for a value that would not be read as it is. */
export function storableJson(value: unknown, what: string): string | undefined {
  return JSON.stringify(value, (name, member: unknown) => {
    if (isOdd(name) || (typeof member === 'string' && isOdd(member))) throw unstorable(what, 'has a NUL character or an unpaired surrogate')
    if (typeof member === 'bigint' || (typeof member === 'number' && !Number.isFinite(member)))
      throw unstorable(what, `has ${String(member)}, which JSON cannot express`)
    return member
  })
}

/** Throws an {@link UnstorableValue} for a text that would not be read as it is. */
export function requireStorable(text: string, what: string): void {
  if (isOdd(text)) throw unstorable(what, 'has a NUL character or an unpaired surrogate')
}

/** The maximum length of a message, in characters, which the description of a service publishes. */
export const maxMessageLength = 2048

/** Returns a text for people, shortened, with a replacement for each character that cannot be stored. */
export function storableText(text: string): string {
  return text.slice(0, maxMessageLength).replaceAll('\0', '\uFFFD').toWellFormed()
}

// PostgreSQL cannot store NUL, and UTF-8 has no single surrogates.
function isOdd(text: string) {
  return text.includes('\0') || !text.isWellFormed()
}

function unstorable(what: string, problem: string) {
  return new UnstorableValue(`jobs: ${what} ${problem}. Remove it, or write it in another form, such as base64 or a string of digits.`)
}
