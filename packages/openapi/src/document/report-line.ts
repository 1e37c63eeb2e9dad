// A line of a report names places of the document, and is read in a terminal.
const maxLineLength = 2000

/** Returns a line of a report. A terminal acts on control characters, so they are escaped, and a long line is shortened. */
export function reportLine(text: string): string {
  const printable = text
    .slice(0, maxLineLength)
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (one) => `\\u{${(one.codePointAt(0) as number).toString(16)}}`)
  return text.length > maxLineLength ? `${printable}…` : printable
}
