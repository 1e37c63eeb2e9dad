import { callback, describeOptions, integer, type OptionsOf, required, value } from '@concordat/plugin-kit/options'
import type { FastifyRequest } from 'fastify'
import type { RelatedCollection, Relation, Relations } from '../list/related.ts'
import { dereferenceWithin, membersOf } from './item-members.ts'
import { rowRules } from './row-rules.ts'
import { reservedNames } from './rules.ts'
import type { SqlSource } from './sql-source.ts'

const shared = {
  /** The permission that a client needs for the relation, or `public`. Without it, `include` gets 403, and the filters by the relation do not exist. */
  permission: required(value<string>()),
  /**
   * Returns the source of the other rows, as for `runSql`; its `where` leaves out what the client may not see. By default the table of the collection.
   * Required if a policy decides about single objects of the others.
   */
  source: callback<(request: FastifyRequest) => SqlSource>('returns the source of the rows')
}

/** The description of {@link OneOptions}. @readme */
export const oneOptions = describeOptions('pagination-query', {
  /** The field of the resource with the identifier of the other one. */
  key: required(value<string>()),
  ...shared
})

/** The description of {@link ManyOptions}. @readme */
export const manyOptions = describeOptions('pagination-query', {
  /** The field of the others with the identifier of the resource. */
  key: required(value<string>()),
  ...shared,
  /** One of the sort orders of their collection. An index on the key and these fields serves it. */
  sort: required(value<string>()),
  /** How many are included at most. `more` says whether there are others. */
  max: required(integer({ min: 1, max: 100 }))
})

/** Options of {@link one}. */
export interface OneOptions extends OptionsOf<typeof oneOptions> {}

/** Options of {@link many}. */
export interface ManyOptions extends OptionsOf<typeof manyOptions> {}

/**
 * Declares that a resource has at most one other, which `include` embeds as an object, or as null if there is none or the client may not see it.
 *
 * @throws TypeError for an unknown option
 */
export function one<Row>(target: RelatedCollection<Row>, options: OneOptions): Relation<Row> {
  const { key, permission, source } = oneOptions.read(options, 'one')
  return { ...rowsOf(target), key, permission, source }
}

/**
 * Declares that a resource has any number of others, which `include` embeds as `{ items, more }`, in one order and up to a limit.
 *
 * @throws TypeError for an unknown option and for an order that the collection of the others does not have
 */
export function many<Row>(target: RelatedCollection<Row>, options: ManyOptions): Relation<Row> {
  const { key, permission, source, sort, max } = manyOptions.read(options, 'many')
  const order = target.sorts?.get(sort)
  if (order === undefined)
    throw new TypeError(
      `pagination-query: many: sort is "${sort}", which is not an order of "${target.name}". Use one of ${[...(target.sorts?.keys() ?? [])].join('; ')}.`
    )
  return { ...rowsOf(target), key, permission, source, many: { order, max } }
}

function rowsOf<Row>(target: RelatedCollection<Row>) {
  return { target, rowRules: rowRules(membersOf(target.item, dereferenceWithin(target.item))) }
}

// The kinds whose texts identify a row, with the type as which a statement compares them.
const keyTypes: Readonly<Record<string, string>> = { uuid: 'uuid', integer: 'bigint', string: 'text' }

/** Returns the SQL type as which the keys of a relation are compared. */
export function keyTypeOf({ target, key, many: several }: Relation): string {
  return keyTypes[target.fields.get(several ? key : target.id)?.kind as string] as string
}

/** Throws a `TypeError` of one line for a relation that cannot be read. */
export function requireRelations(
  { name: collection, id, fields }: Pick<RelatedCollection, 'name' | 'id' | 'fields'>,
  relations: Relations
): void {
  if (relations.size > 0 && fields.has('include'))
    throw new TypeError(
      `pagination-query: collection "${collection}": a field is named include, as the parameter of relations is. Rename it.`
    )
  for (const [name, { target, key, many: several, permission }] of relations) {
    const where = `pagination-query: collection "${collection}": relations.${name}`
    if (!/^[a-zA-Z]\w*$/.test(name) || reservedNames.has(name)) throw new TypeError(`${where} has an invalid name. Use letters and digits.`)
    if ([...fields.keys()].some((field) => field === name || field.startsWith(`${name}.`)))
      throw new TypeError(`${where} has the name of a field. Rename the relation.`)
    if (!(target?.fields instanceof Map)) throw new TypeError(`${where} must be one(collection, …) or many(collection, …).`)
    if (typeof permission !== 'string' || permission === '')
      throw new TypeError(`${where} has no permission. Set permission to that of reading "${target.name}", or to "public".`)
    if (typeof key !== 'string')
      throw new TypeError(
        `${where}.key must be the name of a single field, as the id of a collection is. For a key of several columns, add a column that has all of them: a generated one, or one of a view.`
      )
    const [own, other, place] = several
      ? [fields.get(id)?.kind, target.fields.get(key)?.kind, `a field of "${target.name}"`]
      : [fields.get(key)?.kind, target.fields.get(target.id)?.kind, `a field of "${collection}"`]
    if ((several ? other : own) === undefined)
      throw new TypeError(`${where}.key is "${key}", which is not ${place} with values. Name the field of the key.`)
    if (own !== other || keyTypes[own as string] === undefined)
      throw new TypeError(
        `${where} compares a field of the kind ${own} with one of the kind ${other}. Both must be of the same kind: uuid, integer or string.`
      )
  }
}
