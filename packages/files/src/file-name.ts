const maxLength = 255
// What fetch sends for characters that a header cannot have.
const escaped: Readonly<Record<string, string>> = { '%22': '"', '%0D': '', '%0A': ' ' }
// Controls, line separators, and the characters that change the direction of text, with which "gpj.exe" looks like "exe.jpg".
const invisible = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu

/** Returns the name of a file without folders, invisible characters and what is not Unicode, of at most 255 characters; undefined if nothing is left. */
export function cleanFileName(given: string | undefined): string | undefined {
  if (given === undefined) return undefined
  const decoded = given.replaceAll(/%22|%0D|%0A/gi, (code) => escaped[code.toUpperCase()] as string)
  const last = decoded.toWellFormed().split(/[\\/]/).at(-1) as string
  const name = Array.from(last.normalize('NFC').replaceAll(invisible, '').trim()).slice(0, maxLength).join('')
  return /^\.*$/.test(name) ? undefined : name
}
