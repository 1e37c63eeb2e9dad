import type { Page } from '@concordat/pagination-query'
import type { OpenSample, SampleRow } from '@concordat/pagination-query/testing'

type SampleQuery = Parameters<OpenSample['run']>[0]

/** Returns a function that opens a sample whose rows are stored in memory and read by `run`. */
export function rowsInMemory(run: (rows: SampleRow[], query: SampleQuery) => Page<object>): () => OpenSample {
  return () => {
    const rows = new Map<string, SampleRow>()
    return {
      insert: async (added) => {
        for (const row of added) rows.set(row.id, row)
      },
      delete: async (ids) => {
        for (const id of ids) rows.delete(id)
      },
      run: async (query) => run([...rows.values()], query),
      close: async () => rows.clear()
    }
  }
}
