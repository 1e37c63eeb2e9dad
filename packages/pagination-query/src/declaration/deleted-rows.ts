import { describeOptions, integer, type OptionsOf, required, value } from '@concordat/plugin-kit/options'
import type { Condition } from '../list/list-query.ts'
import type { Field } from './field.ts'

/** The description of {@link DeletedOptions}. @readme */
export const deletedOptions = describeOptions('pagination-query', {
  /** The field with the time of the deletion, which a row has until it is restored. */
  field: required(value<string>()),
  /** How long deleted rows stay, for `removeDeleted` of @concordat/postgres/table. Without it, they are never removed. */
  keepDays: integer({ min: 1, max: 36_500 }),
  /** The permission with which clients read deleted rows by `deleted=true`. Without it, none can. */
  seenWith: value<string>()
})

/** How rows are deleted so that they can be restored. */
export interface DeletedOptions extends OptionsOf<typeof deletedOptions> {}

/** Reads how the rows of a collection are deleted. Throws a `TypeError` of one line for what cannot work. */
export function readDeleted(
  collection: string,
  given: DeletedOptions | undefined,
  fields: ReadonlyMap<string, Field>,
  filters: ReadonlyMap<string, unknown>
): DeletedOptions | undefined {
  if (given === undefined) return undefined
  const where = `collection "${collection}": deleted`
  const deleted = deletedOptions.read(given, where)
  const field = fields.get(deleted.field)
  if (field?.kind !== 'date-time' || !field.nullable)
    throw new TypeError(
      `pagination-query: ${where}.field is "${deleted.field}", which must be an optional field with the format "date-time".`
    )
  if (deleted.seenWith === '')
    throw new TypeError(`pagination-query: ${where}.seenWith must be a permission. Remove it if no client may see deleted rows.`)
  if (deleted.seenWith !== undefined && (fields.has('deleted') || filters.has('deleted')))
    throw new TypeError(
      `pagination-query: collection "${collection}": a field is named deleted, as the parameter of deleted rows is. Rename it.`
    )
  return deleted
}

// Its SQL is `deleted_at IS NULL`, without a parameter, so that partial indexes serve it.
/** Returns the condition of the rows that are not deleted, or of those that are; none for a collection whose rows are deleted for good. */
export function deletionConditions(
  { deleted }: { readonly deleted: { readonly field: string } | undefined },
  areDeleted = false
): readonly Condition[] {
  return deleted === undefined ? [] : [{ field: deleted.field, kind: 'date-time', operator: 'null', value: !areDeleted }]
}
