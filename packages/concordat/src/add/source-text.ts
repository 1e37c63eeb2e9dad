/** The most characters in a line of a project. */
export const width = 140

/** Returns a list between brackets on one line if it fits, otherwise an item per line. `before` begins the line, with its indentation. */
export function listed(before: string, [open, close]: readonly [string, string], items: readonly string[], after = ''): string {
  const line = before + open + items.join(', ') + close + after
  if (line.length <= width) return line
  const indent = /^ */.exec(before)?.[0] ?? ''
  return `${before}${open.trimEnd()}\n${items.map((item) => `${indent}  ${item}`).join(',\n')}\n${indent}${close.trimStart()}${after}`
}

const longForms = [
  { pattern: /^(import )\{ (.*) \}( from .*)$/, brackets: ['{ ', ' }'], comma: ', ' },
  { pattern: /^(.*\.\w+)\((.*)\)()$/, brackets: ['(', ')'], comma: /, (?![^(]*\))/ }
] as const

/** Returns the text with the imports and calls that are too long for a line on several. */
export function wrapped(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      const form = line.length <= width ? undefined : longForms.find(({ pattern }) => pattern.test(line))
      const [, head = '', items = '', tail = ''] = form?.pattern.exec(line) ?? []
      return form === undefined ? line : listed(head, form.brackets, items.split(form.comma), tail)
    })
    .join('\n')
}
