import { describeOptions, type OptionsOf, value } from '@concordat/plugin-options'
import type { Condition, ListQuery } from './list/list-query.ts'
import { operatorOf } from './list/operators.ts'
import { countTotal, type Page, pageOf } from './list/page.ts'
import { readingOrder } from './list/sort-order.ts'
import {
  acceptsNull,
  type FieldMapping,
  fieldOf,
  type PrismaDelegate,
  type PrismaModel,
  type PrismaRecord,
  refuseMisreadTimes
} from './prisma/model.ts'
import { type PrismaField, responseOf, textOf } from './prisma/values.ts'
import { conditionFilter, rangeFilters, singleKeyRanges, type Where } from './prisma/where.ts'
import { withRefusals } from './sql/rows.ts'

/** The type of `where` in the methods of a delegate. */
type PrismaWhere<Delegate> = Delegate extends {
  [K: symbol]: { types: { operations: { findMany: { args: { where?: infer Filter | undefined } } } } }
}
  ? Filter
  : Where

/** The description of {@link PrismaOptions}. */
const prismaOptions = describeOptions('pagination-query', {
  /** A filter that restricts pages and counts, for example to the rows of a tenant. */
  where: value<unknown>(),
  /**
   * The `name` of the Prisma field, by field of the resource; by default the same, or that in snake_case. To sort by an enum, list its values in the
   * order of the database in `choices`.
   */
  fields: value<Readonly<Record<string, FieldMapping>>>({ default: {}, names: { '*': { name: true, choices: true } } })
})

/** Options of {@link runPrisma}: how a resource maps to a Prisma model. */
interface PrismaOptions extends OptionsOf<typeof prismaOptions> {}

// The `cursor` of Prisma loses rows where a sort key is null, and reads everything where it is not unique.
/**
 * Runs a query on PostgreSQL through a Prisma model, one range after another until the page is full. Times, dates and decimals are strings. Throws a
 * `TypeError` if Prisma misreads a time in the sort order: the column is more precise than milliseconds, or the session is not in UTC.
 */
export async function runPrisma<Row, Delegate extends PrismaDelegate>(
  delegate: Delegate,
  query: ListQuery<Row>,
  options: PrismaOptions & { readonly where?: PrismaWhere<Delegate> | undefined } = {}
): Promise<Page<Row>> {
  const { where: always = {}, fields } = prismaOptions.read(options)
  const model = delegate as unknown as PrismaModel
  const fieldFor = (member: string) => fieldOf(model, member, fields[member])
  const order = readingOrder(query)
  const keys = order.map(({ field }) => sortable(fieldFor(field)))
  const members = query.fields.map((member) => ({
    member,
    name: fieldFor(member).name,
    kind: query.kinds?.[member],
    isText: query.numberTexts?.get(member) === 'text'
  }))
  const filters = await Promise.all(query.conditions.map((condition) => filterOf(model, fieldFor(condition.field), condition)))
  const matching = [always, ...filters]

  return withRefusals(query, async () => {
    const found = await fetchRows()
    const times = keys.filter((_, index) => order[index]?.kind === 'date-time').map(({ name }) => name)
    const onPage = found.slice(0, query.perPage)
    await refuseMisreadTimes(model, fieldFor(query.id).name, times, [...onPage.slice(0, 1), ...onPage.slice(1).slice(-1)])
    return pageOf(query, found.map(keyed), await countTotal(query, found.length, countRows))
  })

  async function fetchRows() {
    const select = Object.fromEntries([...keys, ...members].map(({ name }) => [name, true]))
    const orderBy = keys.map(({ name }, index) => ({ [name]: order[index]?.descending ? 'desc' : 'asc' }))
    const rows: PrismaRecord[] = []
    for (const range of query.ranges.flatMap(singleKeyRanges)) {
      const where = { AND: [...matching, ...rangeFilters(keys, order, range)] }
      const take = query.perPage + 1 - rows.length
      if (take > 0) rows.push(...(await model.findMany({ select, where, orderBy, take, skip: query.offset })))
    }
    return rows
  }

  function keyed(record: PrismaRecord) {
    const row = Object.fromEntries(
      members.map(({ member, name, kind, isText }) => [member, isText ? textOf('decimal', record[name]) : responseOf(kind, record[name])])
    ) as Row
    return { row, key: order.map(({ kind }, index) => textOf(kind, record[(keys[index] as PrismaField).name])) }
  }

  async function countRows(limit?: number) {
    return model.count({ where: { AND: matching }, ...(limit !== undefined && { take: limit }) })
  }
}

async function filterOf(model: PrismaModel, field: PrismaField, condition: Condition) {
  const includesNull = operatorOf[condition.operator].prisma === 'noneOf'
  return conditionFilter(field, condition, includesNull && (await acceptsNull(model, field.name)))
}

function sortable(field: PrismaField): PrismaField {
  if (!field.isEnum || field.choices) return field
  throw new TypeError(
    `pagination-query: Prisma does not compare enums. To sort by ${field.name}, list its values in order in fields.${field.name}.choices.`
  )
}
