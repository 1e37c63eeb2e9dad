/** A part of an SQL statement: its strings, which never come from a request, and the values between them. */
export interface Fragment {
  readonly strings: readonly [string, ...string[]]
  /** The texts to bind. */
  readonly values: readonly unknown[]
}

export function raw(text: string): Fragment {
  return { strings: [text], values: [] }
}

export function bound(value: unknown): Fragment {
  return { strings: ['', ''], values: [value] }
}

/** Combines fragments with a tagged template: `` fragment`${column} = ${bound(value)}` ``. */
export function fragment(strings: TemplateStringsArray, ...parts: readonly Fragment[]): Fragment {
  return alternating(strings, parts)
}

export function joined(fragments: readonly Fragment[], separator: string): Fragment {
  return alternating(['', ...Array<string>(fragments.length - 1).fill(separator), ''], fragments)
}

/** Returns a fragment followed by a text. */
export function followed({ strings, values }: Fragment, text: string): Fragment {
  return { strings: strings.with(values.length, strings[values.length] + text) as [string, ...string[]], values }
}

// Every statement is built by this function. The loops take a third of the time of copies.
function alternating(texts: readonly string[], parts: readonly Fragment[]): Fragment {
  const strings: string[] = []
  const values: unknown[] = []
  let text = texts[0] as string
  for (const [index, part] of parts.entries()) {
    text += part.strings[0]
    for (const [place, value] of part.values.entries()) {
      strings.push(text)
      values.push(value)
      text = part.strings[place + 1] as string
    }
    text += texts[index + 1]
  }
  strings.push(text)
  return { strings: strings as [string, ...string[]], values }
}
