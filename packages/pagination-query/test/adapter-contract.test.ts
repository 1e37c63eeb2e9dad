import type { Page } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { adapterContract, type OpenSample, type SampleRow } from '@concordat/pagination-query/testing'
import t from 'tap'
import { rowsInMemory } from './rows-in-memory.ts'

type SampleQuery = Parameters<OpenSample['run']>[0]

type Run = (rows: SampleRow[], query: SampleQuery) => Page<object>

/** Runs the tests of the contract with this text in their title. Returns the titles of the failed tests with their messages. */
async function failuresOf(run: Run, part = '') {
  const failures = new Map<string, string>()
  const work: Promise<void>[] = []
  adapterContract(
    (title, check) => title.includes(part) && work.push(check().catch(({ message }) => void failures.set(title, message))),
    rowsInMemory(run),
    { finestTime: 'milliseconds', walks: 40, seed: 7 }
  )
  await Promise.all(work)
  return failures
}

t.test('passes for an adapter that returns the same pages as memory', async (t) => {
  t.strictSame([...(await failuresOf(runArray)).keys()], [])
})

t.test('fails for adapters with common mistakes', async (t) => {
  const mistakes: Record<string, Run> = {
    'loses rows with null': (rows, query) =>
      runArray(
        rows.filter(({ rating }) => rating !== null || query.ranges[0]?.beyond === undefined),
        query
      ),
    'repeats the row of the position': (rows, query) => {
      const ranges = query.ranges.map(({ beyond, ...range }) => {
        if (!beyond) return range
        const operator = beyond.operator.startsWith('>') ? '>=' : '<='
        return { ...range, beyond: { ...beyond, operator } as const }
      })
      return runArray(rows, { ...query, ranges })
    },
    'always sets hasMore': (rows, query) => ({ ...runArray(rows, query), hasMore: true }),
    'returns a page read backward in the order of reading': (rows, query) => {
      const page = runArray(rows, query)
      return query.reverse ? { ...page, rows: page.rows.toReversed() } : page
    }
  }
  for (const [mistake, run] of Object.entries(mistakes)) {
    const title = '40 random walks lose no row and repeat none'
    t.match((await failuresOf(run, title)).get(title), /seed 7, walk \d+: .* for order /, mistake)
  }
})

t.test('fails for a total, a field and a value that differ', async (t) => {
  const mistakes: Record<string, Run> = {
    'counts are exact, or stop at a limit': (rows, query) => ({
      ...runArray(rows, query),
      total: { items: rows.length, exact: true }
    }),
    'rows have the requested fields and no trace of the sort keys': (rows, query) => {
      const page = runArray(rows, query)
      return { ...page, rows: page.rows.map((row) => ({ ...row, sortkey0: 'x' })) }
    },
    'neighbouring values that differ in the last digit are distinct, and null is the largest value': (rows, query) =>
      runArray(
        rows.map((row) => ({ ...row, views: String(Number(row.views)) })),
        query
      )
  }
  for (const [title, run] of Object.entries(mistakes)) t.ok((await failuresOf(run, title)).has(title), title)
})
