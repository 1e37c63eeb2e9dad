import { deletionConditions } from '../declaration/deleted-rows.ts'
import { kindsOf } from '../declaration/field.ts'
import { keyTypeOf } from '../declaration/relation.ts'
import { bound, type Fragment, fragment, joined, raw } from '../list/fragment.ts'
import type { ListQuery } from '../list/list-query.ts'
import { projectRows } from '../list/projection.ts'
import type { Included, IncludedRows, Relation } from '../list/related.ts'
import { valueText } from '../list/value-text.ts'
import { rowsOf, type SqlClient } from './client.ts'
import { columnOf } from './columns.ts'
import { listed } from './page.ts'
import { orderSql, typedSelections } from './parts.ts'
import { keyedRows } from './rows.ts'
import { type RowSource, readSource } from './source.ts'
import { fromSql, render } from './statement.ts'

type Row = Readonly<Record<string, unknown>>

/** Reads the included relations of rows, with one statement for each, none if no row has a key. Returns those of each row, in their order. */
export async function loadIncluded(
  client: SqlClient,
  included: readonly Included[],
  rows: readonly object[],
  id: string
): Promise<readonly IncludedRows[]> {
  const result: Record<string, unknown>[] = rows.map(() => ({}))
  // One after another: the client can be a single connection.
  for (const one of included) {
    const { relation, name } = one
    const keys = (rows as readonly Row[]).map((row) => valueText('string', row[relation.many ? id : relation.key]))
    const wanted = [...new Set(keys.filter((key) => key !== null))]
    const found = wanted.length === 0 ? new Map<string, unknown>() : await (relation.many ? loadMany : loadOne)(client, one, wanted)
    const none = relation.many ? { items: [], more: false } : null
    for (const [index, key] of keys.entries()) (result[index] as Record<string, unknown>)[name] = found.get(key as string) ?? none
  }
  return result
}

async function loadOne(client: SqlClient, included: Included, keys: readonly string[]) {
  const { relation, source, fields } = included
  const { target } = relation
  const query = queryOf(included, target.id)
  const read = readSource(query, source)
  const rows = await run(client, included, read, keys, (array, type) => {
    const nameOf = (field: string) => columnOf(read.columns, field)
    // A subquery, because a scan of a small table would read the text again for each row.
    const met = fragment`${nameOf(target.id)} = any((select ${array})::${type}[])`
    return fragment`select ${listed(typedSelections(query, nameOf))} ${fromSql(query, read, [met])}`
  })
  const found = keyedRows<Row>(query, rows).map(({ row }) => row)
  const shown = projectRows(found, fields, rulesOf(relation))
  return new Map(found.map((row, index) => [String(row[target.id]), shown[index]]))
}

// A LIMIT of each parent: one with many others would otherwise be read as a whole.
async function loadMany(client: SqlClient, included: Included, keys: readonly string[]) {
  const { relation, source, fields } = included
  const { order, max } = relation.many as NonNullable<typeof relation.many>
  const query = { ...queryOf(included, relation.key), order }
  const read = readSource(query, source)
  const rows = await run(client, included, read, keys, (array) => {
    const nameOf = (field: string) => columnOf(read.columns, field)
    const from = fromSql(query, read, [fragment`${nameOf(relation.key)} = relatedto.wanted`])
    const end = fragment`order by ${joined(orderSql(query, nameOf), ', ')} limit ${raw(String(max + 1))}`
    const each = fragment`select ${listed(typedSelections(query, nameOf))} ${from} ${end}`
    return fragment`select relatedto.wanted::text, page.* from unnest(${array}) as relatedto (wanted) cross join lateral (${each}) as page`
  })
  const shown = projectRows(
    keyedRows<Row>(query, rows).map(({ row }) => row),
    fields,
    rulesOf(relation)
  )
  const found = new Map<string, { items: unknown[]; more: boolean }>()
  for (const [index, row] of shown.entries()) {
    const key = String((rows[index] as Row)['wanted'])
    const list = found.get(key) ?? { items: [], more: false }
    found.set(key, list)
    if (list.items.length < max) list.items.push(row)
    else list.more = true
  }
  return found
}

function rulesOf({ target: { name, id }, rowRules }: Relation) {
  return { name, id, rowRules }
}

// Clients select fields in many ways.
const maxPerRelation = 50
const statements = new WeakMap<Relation, Map<string, string>>()

// Runs the statement that reads the rows of some keys, which `make` makes from the array of the keys, with the SQL type of one.
async function run(
  client: SqlClient,
  { relation, fields }: Included,
  source: RowSource,
  keys: readonly string[],
  make: (array: Fragment, type: Fragment) => Fragment
) {
  let known = statements.get(relation)
  if (known === undefined) statements.set(relation, (known = new Map()))
  const { from, columns, where } = source
  const key = JSON.stringify([fields, from, columns, where])
  const type = raw(keyTypeOf(relation))
  // An array as one text, whose form no driver changes.
  const text = known.get(key) ?? render(source, make(fragment`${bound('')}::text::${type}[]`, type)).text
  if (known.size < maxPerRelation) known.set(key, text)
  return rowsOf(client, true, text, [...source.values, arrayText(keys)])
}

function arrayText(keys: readonly string[]) {
  return `{${keys.map((key) => `"${/["\\]/.test(key) ? key.replaceAll(/["\\]/g, String.raw`\$&`) : key}"`).join()}}`
}

function queryOf({ relation: { target }, fields }: Included, key: string): ListQuery<Row> {
  const { name, id, numberTexts } = target
  const rest = {
    conditions: deletionConditions(target),
    order: [],
    perPage: 1,
    reverse: false,
    offset: 0,
    ranges: [],
    count: 'none'
  } as const
  return { name, id, fields: [...new Set([...fields, key])], kinds: kindsOf(target.fields), numberTexts, ...rest }
}
