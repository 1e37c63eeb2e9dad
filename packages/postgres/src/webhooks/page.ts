import type { PageSelection } from '@concordat/webhooks'

/** The SQL of one page of a list, ordered by id. `$1` is the id of the parent of the list, or null for a list without a parent. */
export interface Page {
  readonly condition: string
  readonly order: string
  readonly values: readonly unknown[]
}

export function pageOf(parent: string | null, { limit, after, oldestFirst = false }: PageSelection): Page {
  return {
    condition: after === undefined ? '' : `AND id ${oldestFirst ? '>' : '<'} $3::uuid`,
    order: `ORDER BY id ${oldestFirst ? 'ASC' : 'DESC'} LIMIT $2`,
    values: after === undefined ? [parent, limit] : [parent, limit, after]
  }
}
