const maxLength = 1000

/**
 * Returns a text of others in a form on which a terminal acts as on a word: without control characters, line ends, marks of direction and other
 * characters that cannot be seen, each as `\u{…}`. A long text is shortened.
 */
export function printable(text: string, max = maxLength): string {
  const shown = text.length > max ? `${text.slice(0, max)}…` : text
  return shown.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`)
}

/** Returns a printable text as one word of a POSIX shell (IEEE Std 1003.1 §2.2), for a command to copy. */
export function shellWord(text: string): string {
  return /^[\w.:@/][\w.:@/-]*$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
