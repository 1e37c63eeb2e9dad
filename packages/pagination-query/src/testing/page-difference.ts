import type { Key } from '../list/list-query.ts'
import type { Page } from '../list/page.ts'
import { orderText, valueText } from '../list/value-text.ts'
import { describe, type SampleQuery } from './sample-queries.ts'
import { type SampleField, sampleKinds } from './sample-rows.ts'

/** Returns the first difference between two pages of the sample, or undefined. The JavaScript types of the values do not matter. */
export function pageDifference(query: SampleQuery, found: Page<object>, wanted: Page<object>): string | undefined {
  const left = comparablePage(query, found)
  const right = comparablePage(query, wanted)
  for (const part of ['rows', 'first', 'last', 'hasMore', 'total'] as const) {
    const [one, other] = [JSON.stringify(left[part]), JSON.stringify(right[part])]
    if (one !== other) return `${part} is ${one} instead of ${other}, for ${describe(query)}`
  }
  return undefined
}

function comparablePage(query: SampleQuery, page: Page<object>) {
  const key = (key: Key | undefined) => key?.map((value, index) => comparable(query.order[index]?.field as SampleField, value))
  return {
    rows: page.rows.map(comparableRow),
    first: key(page.first),
    last: key(page.last),
    hasMore: page.hasMore,
    total: page.total
  }
}

// Includes the field names, so that a missing or an extra field is a difference.
function comparableRow(row: object) {
  return Object.entries(row)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([field, value]) => [field, Object.hasOwn(sampleKinds, field) ? comparable(field as SampleField, value) : value])
}

function comparable(field: SampleField, value: unknown) {
  const kind = sampleKinds[field]
  const text = valueText(kind, value)
  return text === null ? null : orderText(kind, text)
}
