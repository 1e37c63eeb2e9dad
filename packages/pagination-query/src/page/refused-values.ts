import { filterName } from '../declaration/parameter-objects.ts'
import { invalidQuery } from '../errors.ts'
import type { ListQuery } from '../list-query.ts'

interface DatabaseError {
  readonly code?: unknown
  readonly where?: unknown
  readonly cause?: DatabaseError | undefined
}

// The codes of PostgreSQL for a text that a type does not have, and the code of Prisma for all of them.
const refused = new Set(['22003', '22007', '22008', '22P02', 'P2007'])

/**
 * Runs the statements of a list. If the database refuses a parameter, a filter has a value that the type of its column does not have, such as a text
 * for a column of UUIDs that is declared as text. Throws the 422 error for these filters then, and any other error unchanged.
 */
export async function withRefusals<Result>({ conditions }: ListQuery, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    const filters = conditions.filter(({ kind, operator }) => kind === 'string' && operator !== 'null')
    if (filters.length === 0 || !refusesParameter(error as DatabaseError)) throw error
    throw invalidQuery(filters.map(({ field, operator }) => ({ field: filterName(field, operator), key: 'notOfType' })))
  }
}

function refusesParameter({ code, where, cause }: DatabaseError): boolean {
  if (typeof code !== 'string' || !refused.has(code)) return cause !== undefined && refusesParameter(cause)
  // Prisma shows no context. Other texts that PostgreSQL cannot convert come from the rows.
  return code === 'P2007' || /parameter \$\d/.test(String(where))
}
