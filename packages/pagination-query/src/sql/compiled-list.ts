import type { SqlText } from '../declaration/sql-source.ts'
import type { ListQuery } from '../list/list-query.ts'
import type { WrittenStatement } from './written-page.ts'

/** The statements of a query to a source, each made at its first use. */
export interface CompiledList {
  page?: SqlText | undefined
  count?: SqlText | undefined
  written?: WrittenStatement | undefined
}

interface Known {
  readonly query: ListQuery
  readonly fields: string
  readonly source: string
  readonly compiled: CompiledList
}

// A handler may change a query for its statement in a few ways, such as by further fields.
const maxPerPlan = 8
const plans = new WeakMap<ListQuery['conditions'], Known[]>()

/**
 * Returns the statements that were made for an equal query to the same source. Only queries that are requested again are stored: their conditions, and all
 * else that they have in common, are frozen, also in a copy with other fields.
 */
export function compiledList(query: ListQuery, source: string): CompiledList {
  const { conditions, ranges, order } = query
  if (![conditions, ranges, order].every(Object.isFrozen)) return {}
  let plan = plans.get(conditions)
  if (plan === undefined) plans.set(conditions, (plan = []))
  const fields = query.fields.join()
  const known = plan.find((one) => one.source === source && one.fields === fields && isSame(one.query, query))
  if (known !== undefined) return known.compiled
  const compiled: CompiledList = {}
  if (plan.length < maxPerPlan) plan.push({ query: { ...query }, fields, source, compiled })
  return compiled
}

const parts = ['name', 'id', 'order', 'kinds', 'perPage', 'reverse', 'offset', 'ranges', 'count'] as const

function isSame(one: ListQuery, other: ListQuery): boolean {
  return parts.every((part) => one[part] === other[part])
}
