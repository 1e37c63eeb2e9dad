import { adapterSuite, type SampleRow } from '@concordat/pagination-query/adapter-suite'
import { runArray } from '@concordat/pagination-query/memory'
import t from 'tap'

adapterSuite(
  t,
  {
    name: 'memory',
    open: async () => {
      const rows = new Map<string, SampleRow>()
      return {
        insert: async (added) => {
          for (const row of added) rows.set(row.id, row)
        },
        delete: async (ids) => {
          for (const id of ids) rows.delete(id)
        },
        run: async (query) => runArray([...rows.values()], query),
        close: async () => {}
      }
    }
  },
  { walks: Number(process.env['WALKS'] ?? 500) }
)
