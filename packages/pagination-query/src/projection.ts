/** Keeps the members of rows that were asked for. `fields` is all that a caller may see, when nothing was asked. */
export function projectRows<Row>(rows: readonly Row[], fields: readonly string[]): Row[] {
  return rows.map((row) => {
    const kept: Record<string, unknown> = {}
    for (const name of fields) {
      const value = (row as Record<string, unknown>)[name]
      if (value !== undefined) kept[name] = value
    }
    return kept as Row
  })
}
