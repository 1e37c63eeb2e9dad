/** Leaves out properties that are NULL, as the API does with optional fields. Returns the same objects for rows without a NULL. */
export function withoutNulls<Row extends object>(rows: Row[]): Row[] {
  return rows.map((row) => {
    const values = Object.entries(row)
    return values.some(([, value]) => value === null) ? (Object.fromEntries(values.filter(([, value]) => value !== null)) as Row) : row
  })
}
