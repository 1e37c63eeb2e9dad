/**
 * SQL with its values apart from it, as the strings and values of a template. The strings come from the author of the service,
 * never from a request.
 */
export interface Fragment {
  /** One more than there are values. */
  readonly strings: readonly [string, ...string[]]
  readonly values: readonly string[]
}

export function raw(text: string): Fragment {
  return { strings: [text], values: [] }
}

export function bound(value: string): Fragment {
  return { strings: ['', ''], values: [value] }
}

/** A template of fragments: `` fragment`${column} = ${bound(value)}` ``. */
export function fragment(strings: TemplateStringsArray, ...parts: readonly Fragment[]): Fragment {
  return parts.reduce((whole, part, index) => append(append(whole, part), raw(strings[index + 1] as string)), raw(strings[0] as string))
}

export function joined(fragments: readonly Fragment[], separator: string): Fragment {
  return fragments.reduce((whole, part) => append(append(whole, raw(separator)), part))
}

function append(left: Fragment, right: Fragment): Fragment {
  const [first, ...rest] = right.strings
  const before = left.strings.slice(0, -1)
  const strings = [...before, `${left.strings.at(-1)}${first}`, ...rest] as [string, ...string[]]
  return { strings, values: [...left.values, ...right.values] }
}
