import type { Operator, ValueKind } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import { adapterContract } from '@concordat/pagination-query/testing'
import { casesOf } from '@concordat/test-harness/contract-cases'
import { scaled } from '@concordat/test-harness/scale'
import t from 'tap'
import { rowsInMemory } from './rows-in-memory.ts'
import { wholeList } from './whole-list.ts'

adapterContract(casesOf(t), rowsInMemory(runArray), { walks: scaled(200, 500) })

const query = wholeList<object>()

t.test('accepts rows with numbers, bigints, dates and booleans, and with absent fields', async (t) => {
  const rows = [
    { id: 3, size: 1e21, at: new Date('2026-01-01T00:00:00.001Z'), day: new Date('2026-01-02'), open: true },
    { id: 1, size: 1.5e-7, at: '2026-01-01T01:00:00.0015+01:00', day: '2026-01-01', open: false },
    { id: 2, size: 2n ** 64n, at: '2026-01-01t00:00:00z', open: false },
    { id: 4 }
  ]
  const sorted = (field: string, kind: ValueKind) => {
    const order = [{ field, kind, nullable: true, descending: false }, ...query.order]
    return runArray(rows, { ...query, order }).rows.map((row) => (row as { id: number }).id)
  }
  t.strictSame(sorted('size', 'decimal'), [1, 2, 3, 4])
  t.strictSame(sorted('at', 'date-time'), [2, 3, 1, 4])
  t.strictSame(sorted('day', 'date'), [1, 3, 2, 4])
  t.strictSame(sorted('open', 'boolean'), [1, 2, 3, 4])
  t.strictSame(runArray(rows, { ...query, fields: ['id', 'day'] }).rows.at(-1), { id: 4 }, 'a field that a row does not have is absent')
  const page = runArray(rows, { ...query, conditions: [{ field: 'size', kind: 'decimal', operator: 'eq', value: '0.00000015' }] })
  t.strictSame(page.rows, [{ id: 1 }])
})

t.test('returns the texts of values as keys', async (t) => {
  const order = [{ field: 'day', kind: 'date', nullable: true, descending: true } as const, ...query.order]
  const page = runArray([{ id: 1, day: new Date('2026-01-02') }, { id: 2 }], { ...query, order })
  t.strictSame(
    [page.first, page.last],
    [
      [null, '2'],
      ['2026-01-02', '1']
    ]
  )
})

t.test('compares numbers by value in any notation', async (t) => {
  const texts = ['-10', '-9.51', '-9.5', '-9', '-0.5', '0', '0.05', '0.5', '9', '9.5', '9.51', '10', '123456789012345678901']
  const rows = texts.map((size, id) => ({ id, size }))
  const by = (operator: Operator, value: string) =>
    runArray(rows, { ...query, perPage: 100, conditions: [{ field: 'size', kind: 'decimal', operator, value }] }).rows.map(
      (row) => (row as { id: number }).id
    )
  for (const [index, text] of texts.entries()) {
    const [whole, fraction = ''] = text.split('.')
    t.strictSame(by('eq', `${whole}.${fraction}00`), [index], text)
    t.strictSame(by('lt', text), [...texts.keys()].slice(0, index), text)
    t.strictSame(by('gte', text), [...texts.keys()].slice(index), text)
  }
  t.strictSame(by('eq', '-0.0'), [5])
})

t.test('throws for a value that is not of its kind', async (t) => {
  const order = [{ field: 'size', kind: 'decimal', nullable: false, descending: false } as const, ...query.order]
  t.throws(() => runArray([{ id: 1, size: 'large' }], { ...query, order }), {
    message: 'pagination-query: "large" is not a valid number or date-time.'
  })
})
