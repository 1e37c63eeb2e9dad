import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { describeOptions, integer, type OptionsOf, oneOf } from '@concordat/plugin-kit/options'
import type { RunTest } from '@concordat/plugin-kit/testing'
import type { Condition } from '../list/list-query.ts'
import type { Operator } from '../list/operators.ts'
import type { Page } from '../list/page.ts'
import { RandomDraw } from './random-draw.ts'
import { comparedPage, insertRows, randomWalk, type WalkedTable } from './random-walk.ts'
import { condition, describe, everyCondition, type SampleQuery, sortKey, wholeSample } from './sample-queries.ts'
import { type SampleField, type SampleRow, sampleKinds, sampleValues } from './sample-rows.ts'

/** An open sample table, empty at first, with the columns of `createSampleTable`. */
export interface OpenSample {
  insert(rows: readonly SampleRow[]): Promise<void>
  delete(ids: readonly string[]): Promise<void>
  run(query: SampleQuery): Promise<Page<object>>
  close(): Promise<void>
}

/** The description of {@link AdapterContractOptions}. */
const adapterContractOptions = describeOptions('pagination-query', {
  /** The smallest difference between two times that the adapter distinguishes. */
  finestTime: oneOf(['microseconds', 'milliseconds'], { default: 'microseconds' }),
  /** The number of random walks. */
  walks: integer({ default: 500 }),
  /** The seed of the random draws, by default a random one. The message of a failure contains it. */
  seed: integer({})
})

/** Options of {@link adapterContract}. */
export interface AdapterContractOptions extends OptionsOf<typeof adapterContractOptions> {}

/**
 * Registers tests of an adapter: each page equals the page that `runArray` returns for the same rows, and no walk, forward or backward,
 * in any order, loses or repeats a row that exists during the whole walk while other rows are inserted and deleted. `create` creates a
 * separate empty table for each test. Only one table is open at a time, when the tests run sequentially.
 */
export function adapterContract(test: RunTest, create: () => OpenSample | Promise<OpenSample>, options: AdapterContractOptions = {}): void {
  const { finestTime, walks, seed = Math.floor(Math.random() * 2 ** 31) } = adapterContractOptions.read(options)
  const values = sampleValues(finestTime)

  onTable('every operator gives the same result as in memory, also for null', async (table, draw) => {
    await insertRows(table, draw, values, 80)
    for (const one of everyCondition([...table.rows.keys()].slice(0, 3), values)) {
      await sameAsMemory(table, wholeSample({ conditions: [one], order: [sortKey('title', true), sortKey('id', true)] }))
    }
  })

  onTable('a prefix is matched literally, and `ne` and `nin` match null', async (table) => {
    const rows = ['a%b', 'a_b', 'a\\b', 'axb', 'A%b'].map((title, index) => sampleRow({ title, rating: index === 0 ? null : index }))
    await table.insert(rows)
    const finds = async (field: SampleField, operator: Operator, value: Condition['value'], wanted: string[]) => {
      const page = await table.run(
        wholeSample({ conditions: [condition(field, operator, value)], order: [sortKey('title', false), sortKey('id', false)] })
      )
      deepStrictEqual(
        page.rows.map((row) => (row as SampleRow).title),
        wanted,
        `${field} ${operator} ${JSON.stringify(value)}`
      )
    }
    await finds('title', 'prefix', 'a%', ['a%b'])
    await finds('title', 'prefix', 'a_', ['a_b'])
    await finds('title', 'prefix', 'a\\', ['a\\b'])
    await finds('title', 'prefix', 'a', ['a%b', 'a\\b', 'a_b', 'axb'])
    await finds('title', 'contains', 'A%', ['A%b', 'a%b'])
    await finds('title', 'contains', 'X', ['axb'])
    await finds('title', 'contains', 'a_', ['a_b'])
    await finds('title', 'contains', '\\B', ['a\\b'])
    await finds('rating', 'ne', '2', ['A%b', 'a%b', 'a_b', 'axb'])
    await finds('rating', 'nin', ['1', '2', '3'], ['A%b', 'a%b'])
    await finds('rating', 'null', true, ['a%b'])
  })

  onTable('neighbouring values that differ in the last digit are distinct, and null is the largest value', async (table) => {
    const rows = [
      sampleRow({ views: '9007199254740993', price: '12345678901234567890.2', title: '\u{1F600}', rating: null }),
      sampleRow({ views: '9007199254740992', price: '12345678901234567890.1', title: '\uFFFD', rating: 10 }),
      sampleRow({ views: '9', price: '9', title: 'z', rating: 9 })
    ]
    await table.insert(rows)
    const names = new Map(rows.map(({ id }, index) => [id, ['large', 'middle', 'small'][index]]))
    for (const field of ['views', 'price', 'title', 'rating'] as const) {
      for (const descending of [false, true]) {
        const page = await table.run(wholeSample({ order: [sortKey(field, descending), sortKey('id', descending)] }))
        const wanted = ['small', 'middle', 'large']
        deepStrictEqual(
          page.rows.map((row) => names.get((row as SampleRow).id)),
          descending ? wanted.toReversed() : wanted,
          field
        )
      }
    }
    for (const one of [condition('views', 'gt', '9007199254740992'), condition('price', 'eq', '12345678901234567890.10')]) {
      const page = await table.run(wholeSample({ conditions: [one] }))
      strictEqual(page.rows.length, 1, `${one.field} ${one.operator} ${String(one.value)}`)
    }
  })

  onTable('counts are exact, or stop at a limit', async (table, draw) => {
    await insertRows(table, draw, values, 30)
    for (const max of [29, 30, 31]) {
      const { total } = await table.run(wholeSample({ count: { max } }))
      deepStrictEqual(total, { items: Math.min(max, 30), exact: max >= 30 }, `30 rows, counted up to ${max}`)
    }
    const conditions = [condition('status', 'ne', 'open')]
    for (const count of ['none', 'exact', { max: 1 }, { max: 29 }, { max: 30 }, { max: 31 }] as const) {
      for (const changes of [{}, { conditions }, { perPage: 3, offset: 100 }, { ranges: [] }]) {
        await sameAsMemory(table, wholeSample({ ...changes, count }))
      }
    }
  })

  onTable('sorts by each field alone, in both directions', async (table, draw) => {
    await insertRows(table, draw, values, 40)
    for (const field of Object.keys(sampleKinds) as SampleField[]) {
      for (const descending of [false, true]) {
        const order = [...(field === 'id' ? [] : [sortKey(field, descending)]), sortKey('id', descending)]
        for (let offset = 0; offset < 40; offset += 7) await sameAsMemory(table, wholeSample({ order, offset, perPage: 7 }))
      }
    }
  })

  onTable('pages by offset follow one another and end', async (table, draw) => {
    await insertRows(table, draw, values, 20)
    const order = [sortKey('rating', true), sortKey('price', false), sortKey('id', false)]
    for (const perPage of [19, 20, 21]) {
      strictEqual((await table.run(wholeSample({ perPage }))).hasMore, perPage < 20, `whether 20 rows are more than ${perPage}`)
    }
    for (const perPage of [1, 7, 10, 19, 20, 21]) {
      for (let offset = 0; offset <= 20 + perPage; offset += perPage) {
        await sameAsMemory(table, wholeSample({ order, perPage, offset, count: 'exact' }))
      }
    }
  })

  onTable('rows have the requested fields and no trace of the sort keys', async (table, draw) => {
    await insertRows(table, draw, values, 5)
    const order = [sortKey('createdAt', true), sortKey('price', false), sortKey('id', false)]
    for (const fields of [['id'], ['id', 'title'], ['price', 'id'], Object.keys(sampleKinds)]) {
      await sameAsMemory(table, wholeSample({ order, fields }))
    }
    strictEqual((await table.run(wholeSample({ order, ranges: [] }))).rows.length, 0, 'returns no rows without a range')
  })

  onTable(`${walks} random walks lose no row and repeat none`, async (table) => {
    const failures: string[] = []
    for (let walk = 0; walk < walks && failures.length < 3; walk += 1) {
      const failure = await randomWalk(table, new RandomDraw(seed + walk), values)
      if (failure !== undefined) failures.push(`seed ${seed}, walk ${walk}: ${failure}`)
    }
    ok(failures.length === 0, failures.join('\n'))
  })

  function onTable(title: string, check: (table: WalkedTable, draw: RandomDraw) => Promise<void>) {
    test(title, async () => {
      const sample = await create()
      try {
        await check({ ...sample, rows: new Map() }, new RandomDraw(seed))
      } finally {
        await sample.close()
      }
    })
  }
}

let made = 0

function sampleRow(members: Partial<SampleRow>): SampleRow {
  made += 1
  const id = `00000000-0000-4000-8000-${String(made).padStart(12, '0')}`
  const row = {
    title: '',
    status: 'open',
    rating: null,
    price: '1',
    createdAt: '2026-01-01T00:00:00Z',
    day: null,
    views: '1',
    active: true
  }
  return { id, ...row, ...members }
}

async function sameAsMemory(table: WalkedTable, query: SampleQuery) {
  await comparedPage(table, query).catch((error: Error) => {
    throw new Error(`as in memory: ${describe(query)}: ${error.message}`, { cause: error })
  })
}
