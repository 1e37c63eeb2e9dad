import { columnCases } from '@concordat/test-harness/column-types'
import t from 'tap'
import { libraries, serveColumns } from './column-service.ts'
import { checkUses } from './column-uses.ts'

// All types and libraries, on both databases and in three time zones, are in columns.long.test.ts.
const common = ['integer', 'bigint', 'bigint[]', 'numeric', 'boolean', 'text', 'date', 'date[]', 'timestamptz', 'bytea', 'jsonb', 'mood']

t.test('a value of each common type of column comes back exactly in every use, or is refused', async (t) => {
  const cases = columnCases.filter(({ type }) => common.includes(type))
  const service = await serveColumns(t, { folder: 'memory://' }, libraries['JSON Schema'] as never, cases)
  for (const resource of service.resources) await checkUses(t, service, resource)
})
