/** The condition that limits rows to the tenant, as PostgreSQL prints it, such as in a policy. */
export class TenantCondition {
  readonly #column: RegExp
  readonly #value: RegExp

  constructor(column: string, setting: string) {
    const read = String.raw`NULLIF\(current_setting\('${setting.replace('.', String.raw`\.`)}'::text, true\), ''::text\)`
    // The setting, or a function without parameters; each may be cast, and may be in a SELECT, so that it is computed once.
    const value = String.raw`(?:\(${read}\)|${read}|(?:[\w"]+\.)?[\w"]+\(\))(?:::[\w". ]+)?`
    this.#column = new RegExp(String.raw`^(?:[\w"]+\.)?"?${column}"?$|^\((?:[\w"]+\.)?"?${column}"?\)::[\w ]+$`)
    this.#value = new RegExp(String.raw`^(?:\( ?SELECT ${value} AS [\w"]+\)|${value})$`)
  }

  /** Returns whether a condition is true for rows of the tenant only: one of its conjuncts compares the column with the setting. */
  limits(condition: string | null): boolean {
    if (condition === null) return false
    return splitOutside(unwrapped(condition), ' AND ').some((conjunct) => {
      const sides = splitOutside(unwrapped(conjunct), ' = ').map((side) => side.trim())
      return (
        sides.length === 2 &&
        [sides, sides.toReversed()].some(([left = '', right = '']) => this.#column.test(left) && this.#value.test(right))
      )
    })
  }

  /** Returns whether the definition of a view that reads from one table has such a condition. */
  limitsView(definition: string): boolean {
    const [, condition, ...more] = splitOutside(definition.replace(/;\s*$/, '').replaceAll(/\s+/g, ' '), ' WHERE ')
    return condition !== undefined && more.length === 0 && this.limits(condition)
  }
}

function unwrapped(text: string): string {
  const inner = text.trim()
  return inner.startsWith('(') && splitOutside(inner, ')').length === 2 && inner.endsWith(')') ? unwrapped(inner.slice(1, -1)) : inner
}

// Splits a text at each separator that is outside quotes and brackets. A bracket is outside at its own end.
function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = []
  let depth = 0
  let quote = ''
  let start = 0
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] as string
    if (quote !== '') {
      if (character === quote) quote = ''
      continue
    }
    if (character === ')') depth -= 1
    if (depth === 0 && text.startsWith(separator, index)) {
      parts.push(text.slice(start, index))
      start = index + separator.length
    }
    if (character === '(') depth += 1
    if (character === "'" || character === '"') quote = character
  }
  return [...parts, text.slice(start)]
}
