import type { SqlText } from '../declaration/sql-source.ts'
import type { Planner } from './planner.ts'
import { type Conjunct, scansOf } from './table-scan.ts'

/** Returns whether policies limit the rows that a statement reads, for the role of the planner. */
export async function isUnderPolicies(planner: Planner, statement: SqlText): Promise<boolean> {
  for (const { schema, table } of scansOf(await planner.plan(statement, 'withoutIndexes'))) {
    if ((await leakyColumns(planner, `"${schema.replaceAll('"', '""')}"."${table.replaceAll('"', '""')}"`)) !== undefined) return true
  }
  return false
}

/** Returns the columns of a table whose operators are not leakproof, if policies limit its rows for the role of the planner. */
export async function leakyColumns(planner: Planner, table: string): Promise<ReadonlySet<string> | undefined> {
  const { rows } = await planner.query(columns, [table])
  const [{ leaky } = { leaky: null }] = rows as { leaky: string | null }[]
  return leaky === null ? undefined : new Set(JSON.parse(leaky) as string[])
}

/** Returns whether an operator of a condition is not leakproof, so that no index applies it under policies. LIKE is never leakproof. */
export function isLeaky({ text, kind, expressions }: Conjunct, leaky: ReadonlySet<string> | undefined): boolean {
  if (leaky === undefined) return false
  return (
    (kind === 'prefix' && text.includes(' ~~ ')) ||
    (kind !== 'null' && kind !== 'notNull' && expressions.some((expression) => leaky.has(expression)))
  )
}

// Operators of arrays, enums, ranges and rows are those of their kind.
const columns = `
SELECT CASE WHEN row_security_active($1::text::regclass) THEN (
  SELECT coalesce(json_agg(quote_ident(a.attname)), '[]')::text
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid JOIN pg_type b ON b.oid = coalesce(nullif(t.typbasetype, 0), t.oid)
  WHERE a.attrelid = $1::text::regclass AND a.attnum > 0 AND NOT a.attisdropped AND (b.typtype IN ('e', 'r', 'm', 'c') OR b.typcategory = 'A'
    OR EXISTS (SELECT FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode
      WHERE o.oprname = '=' AND o.oprleft = b.oid AND o.oprright = b.oid AND NOT p.proleakproof))
) END AS leaky`
