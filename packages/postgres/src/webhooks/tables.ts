import type { Attempt, Delivery, OwnerFilter, PageSelection } from '@concordat/webhooks'
import { type StoreOptions, schemaOf } from '../connections/postgres.ts'

const names = ['subscriptions', 'removals', 'changes', 'outages', 'messages', 'deliveries', 'attempts'] as const

/** The names of the tables in SQL. */
export type WebhookTables = Readonly<Record<(typeof names)[number], string>>

export function tablesOf(options: StoreOptions): WebhookTables {
  const schema = schemaOf(options)
  return Object.fromEntries(names.map((name) => [name, `${schema}.webhook_${name}`])) as WebhookTables
}

/** Returns the SQL that selects the subscriptions of an owner, and the value of `$1` in it. The names of an owner in tenants follow the name, by bytes. */
export function ownedBy(owner: OwnerFilter): readonly [condition: string, value: string | null] {
  if (owner === undefined) return ['$1::text IS NULL', null]
  if (typeof owner === 'string') return ['owner = $1', owner]
  if ('tenant' in owner) return ['tenant = $1', owner.tenant]
  return [String.raw`(owner = $1 OR (owner > $1 || E'\n' AND owner < $1 || E'\x0b'))`, owner.ownerInAnyTenant]
}

/** Returns the SQL of one page of a list, ordered by id. `$1` is the id of the parent of the list, or null for a list without a parent. */
export function pageOf(parent: string | null, { limit, after, oldestFirst = false }: PageSelection) {
  return {
    condition: after === undefined ? '' : `AND id ${oldestFirst ? '>' : '<'} $3::uuid`,
    order: `ORDER BY id ${oldestFirst ? 'ASC' : 'DESC'} LIMIT $2`,
    values: after === undefined ? [parent, limit] : [parent, limit, after]
  }
}

/** The SQL that converts records of one kind between JSON and the columns of a table. */
export interface Records {
  /** The columns, for INSERT. */
  readonly columns: string
  /** The members with their types, for `json_to_recordset`. */
  readonly members: string
  /** Returns the select list for a set that `json_to_recordset` returned, in the order of `columns`. */
  from(set: string): string
  /** Returns the SQL expression that converts a row to JSON without null members. */
  json(row: string): string
}

export const deliveryRecords: Records = recordsOf<Delivery>({
  id: 'uuid',
  subscriptionId: 'uuid',
  jobId: 'uuid',
  messageId: 'text',
  eventType: 'text',
  status: 'text',
  attempts: 'integer',
  roundStart: 'integer',
  createdAt: 'double precision',
  nextAttemptAt: 'double precision',
  endedAt: 'double precision'
})

export const attemptRecords: Records = recordsOf<Attempt>({
  id: 'uuid',
  deliveryId: 'uuid',
  number: 'integer',
  startedAt: 'double precision',
  durationMilliseconds: 'double precision',
  statusCode: 'integer',
  failure: 'text'
})

function recordsOf<Kept>(types: Readonly<Record<keyof Kept & string, string>>): Records {
  const names = Object.keys(types) as (keyof Kept & string)[]
  const list = (part: (name: keyof Kept & string) => string) => names.map(part).join(', ')
  return {
    columns: list(columnOf),
    members: list((name) => `"${name}" ${types[name]}`),
    from: (set) => list((name) => `${set}."${name}"`),
    json: (row) => `json_strip_nulls(json_build_object(${list((name) => `'${name}', ${row}.${columnOf(name)}`)}))`
  }
}

function columnOf(name: string) {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
