import type { Key } from '../list/list-query.ts'
import type { Page } from '../list/page.ts'
import { runArray } from '../memory.ts'
import { pageDifference } from './page-difference.ts'
import type { RandomDraw } from './random-draw.ts'
import { describe, edgeOf, pageAtEnd, pageBeyond, randomQuery, type SampleQuery } from './sample-queries.ts'
import { randomRow, type SampleRow, type SampleValues } from './sample-rows.ts'

/** A sample table, and the same rows in memory. */
export interface WalkedTable {
  readonly rows: Map<string, SampleRow>
  insert(rows: readonly SampleRow[]): Promise<void>
  delete(ids: readonly string[]): Promise<void>
  run(query: SampleQuery): Promise<Page<object>>
}

/**
 * Walks a collection from one end to the other and back, like a client that follows the links, while rows are inserted and deleted
 * between the pages. Each page must equal the page from memory, and the walk must see each row that exists during the whole walk
 * once in each direction, in order.
 *
 * @returns the first failure, or undefined
 */
export async function randomWalk(table: WalkedTable, draw: RandomDraw, values: SampleValues): Promise<string | undefined> {
  await resize(table, draw, values)
  const query = randomQuery(draw, values)
  const reverse = draw.chance(50)
  const steadfast = new Set(table.rows.keys())
  try {
    const there = await pass(pageAtEnd(query, reverse))
    checkSeen(there.ids)
    const turning = idsOf(there.lastPage)
    const back = await pass(there.back)
    checkSeen(reverse ? [...turning, ...back.ids] : [...back.ids, ...turning])
    return undefined
  } catch (error) {
    return (error as Error).message
  }

  async function pass(start: SampleQuery) {
    const ids: string[] = []
    let requested = start
    let position: Key | undefined
    for (let pages = 1; ; pages += 1) {
      if (pages > 200) throw new Error(`the walk does not end, for ${describe(requested)}`)
      requested = { ...requested, perPage: 1 + draw.below(12) }
      const page = await comparedPage(table, requested)
      ids.splice(requested.reverse ? 0 : ids.length, 0, ...idsOf(page))
      if (!page.hasMore) return { ids, lastPage: page, back: turnAround(requested, page, position) }
      position = edgeOf(page, requested.reverse) as Key
      requested = pageBeyond(requested, position, requested.reverse, false)
      await disturb(idsOf(page), requested)
    }
  }

  async function disturb(near: readonly string[], next: SampleQuery) {
    if (draw.chance(20)) await insertRows(table, draw, values, 1 + draw.below(3))
    // Sometimes deletes all remaining rows, so that the next page has no rows.
    const rest = runArray([...table.rows.values()], { ...next, perPage: 5 })
    const ending = !rest.hasMore && draw.chance(50) ? idsOf(rest) : []
    const some = draw.chance(20) ? [draw.pick(near), ...draw.some([...table.rows.keys()], draw.below(3))] : []
    const gone = [...new Set([...ending, ...some])].filter((id) => table.rows.has(id))
    for (const id of gone) steadfast.delete(id)
    await deleteRows(table, gone)
  }

  function checkSeen(ids: readonly string[]) {
    const wanted = idsOf(runArray([...table.rows.values()], { ...pageAtEnd(query, false), perPage: Number.MAX_SAFE_INTEGER }))
    const twice = ids.find((id, index) => ids.indexOf(id) !== index)
    if (twice !== undefined) throw new Error(`row ${twice} was seen twice, for ${describe(query)}`)
    const [seen, all] = [ids, wanted].map((list) => list.filter((id) => steadfast.has(id)).join(' '))
    if (seen !== all) throw new Error(`rows were lost or out of order: ${seen} instead of ${all}, for ${describe(query)}`)
  }
}

// From a page without rows, the walk back starts with the row of the position itself, which no page in that direction has shown.
function turnAround(requested: SampleQuery, page: Page<object>, position: Key | undefined): SampleQuery {
  const edge = edgeOf(page, !requested.reverse)
  if (edge) return pageBeyond(requested, edge, !requested.reverse, false)
  return position ? pageBeyond(requested, position, !requested.reverse, true) : pageAtEnd(requested, !requested.reverse)
}

/** Runs a query on the table and in memory, and returns the page. Throws if the pages differ. */
export async function comparedPage(table: WalkedTable, query: SampleQuery): Promise<Page<object>> {
  const page = await table.run(query)
  const difference = pageDifference(query, page, runArray([...table.rows.values()], query))
  if (difference !== undefined) throw new Error(difference)
  return page
}

/** Adds random rows to the table and to memory. */
export async function insertRows(table: WalkedTable, draw: RandomDraw, values: SampleValues, count: number): Promise<void> {
  const rows = Array.from({ length: count }, () => randomRow(draw, values))
  for (const row of rows) table.rows.set(row.id, row)
  await table.insert(rows)
}

async function deleteRows(table: WalkedTable, ids: readonly string[]) {
  for (const id of ids) table.rows.delete(id)
  if (ids.length > 0) await table.delete(ids)
}

// Usually a few dozen rows, sometimes hardly any.
async function resize(table: WalkedTable, draw: RandomDraw, values: SampleValues) {
  const size = draw.chance(10) ? draw.below(3) : 10 + draw.below(35)
  const surplus = table.rows.size - size
  if (surplus < 0) await insertRows(table, draw, values, -surplus)
  else await deleteRows(table, draw.some([...table.rows.keys()], surplus))
}

function idsOf(page: Page<object>): string[] {
  return page.rows.map((row) => (row as SampleRow).id)
}
