import type { Attempt, Delivery } from '@concordat/webhooks'

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
