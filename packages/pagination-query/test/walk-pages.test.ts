import { type Condition, collection, type ListQuery, type Page, walkPages } from '@concordat/pagination-query'
import { runArray } from '@concordat/pagination-query/memory'
import t from 'tap'

interface Tree {
  readonly id: number
  readonly species: string
  readonly height: number | null
}

const properties = { id: { type: 'integer' }, species: { type: 'string', maxLength: 20 }, height: { type: ['integer', 'null'] } }
const trees = collection<Tree>({ type: 'object', properties, required: ['id', 'species', 'height'] })({
  name: 'trees',
  style: 'cursor',
  id: 'id',
  sort: { keys: ['id', 'height'] },
  defaultSort: ['-height'],
  filter: { species: true }
})

function forest(size: number): Tree[] {
  return Array.from({ length: size }, (_, id) => ({ id, species: id % 3 === 0 ? 'oak' : 'elm', height: id % 4 === 0 ? null : id % 5 }))
}

async function all(pages: AsyncIterable<Page<Tree>>) {
  const found: Page<Tree>[] = []
  for await (const page of pages) found.push(page)
  return found
}

async function ids(pages: AsyncIterable<Page<Tree>>) {
  return (await all(pages)).map(({ rows }) => rows.map(({ id }) => id))
}

t.test('reads every row once, in the default order and in pages of 100 rows', async (t) => {
  const rows = forest(250)
  const read = await ids(walkPages(trees, (query) => runArray(rows, query)))
  t.strictSame(
    read.map((page) => page.length),
    [100, 100, 50]
  )
  const whole = runArray(rows, { ...(await firstQuery()), perPage: 250 }).rows
  t.strictSame(
    read.flat(),
    whole.map(({ id }) => id)
  )
})

t.test('reads each row that exists during the whole walk once while rows are inserted and deleted', async (t) => {
  const rows = forest(60)
  const seen: number[] = []
  for await (const page of walkPages(trees, (query) => runArray(rows, query), { perPage: 7, sort: '-id' })) {
    seen.push(...page.rows.map(({ id }) => id))
    rows.push({ id: 100 + seen.length, species: 'ash', height: 1 })
    rows.splice(
      rows.findIndex(({ id }) => id === seen[0]),
      1
    )
    rows.splice(
      rows.findIndex(({ id }) => id === 0),
      rows.some(({ id }) => id === 0) ? 1 : 0
    )
  }
  t.strictSame(
    seen,
    Array.from({ length: 59 }, (_, index) => 59 - index),
    'without row 0, which was deleted before it was reached'
  )
})

t.test('meets the conditions, and counts only for the first page', async (t) => {
  const oak: Condition = { field: 'species', kind: 'string', operator: 'eq', value: 'oak' }
  const counts: unknown[] = []
  const run = (query: ListQuery<Tree>) => {
    counts.push(query.count)
    return runArray(forest(20), query)
  }
  const pages = await all(walkPages(trees, run, { conditions: [oak], sort: 'id', perPage: 3, count: 'exact' }))
  t.strictSame(
    pages.flatMap(({ rows }) => rows.map(({ id }) => id)),
    [0, 3, 6, 9, 12, 15, 18]
  )
  t.strictSame(counts, ['exact', 'none', 'none'])
  t.strictSame(pages[0]?.total, { items: 7, exact: true })
})

t.test('yields one page without rows for an empty collection', async (t) => {
  t.strictSame(await ids(walkPages(trees, (query) => runArray([], query))), [[]])
})

t.test('throws for an unknown sort order and an invalid page size before the first query', async (t) => {
  const run = () => t.fail('no query runs') as never
  await t.rejects(walkPages(trees, run, { sort: 'species' }).next(), {
    name: 'TypeError',
    message: 'pagination-query: options.sort must be one of id; -id; height; -height, but is "species".'
  })
  await t.rejects(walkPages(trees, run, { perPage: 0 }).next(), {
    name: 'TypeError',
    message: 'pagination-query: options.perPage must be an integer of at least 1, but is 0.'
  })
})

async function firstQuery() {
  const queries: ListQuery<Tree>[] = []
  await ids(walkPages(trees, (query) => runArray([] as Tree[], (queries.push(query), query))))
  return queries[0] as ListQuery<Tree>
}
