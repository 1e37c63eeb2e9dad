/** Leaves out what is NULL, as the interface does with optional fields. Rows without a NULL stay the objects they are. */
export function withoutNulls<Row extends object>(rows: Row[]): Row[] {
  return rows.map((row) => {
    const values = Object.entries(row)
    return values.some(([, value]) => value === null) ? (Object.fromEntries(values.filter(([, value]) => value !== null)) as Row) : row
  })
}
