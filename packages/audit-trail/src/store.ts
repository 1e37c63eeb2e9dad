import type { RequestTransaction } from '@concordat/plugin-kit/wiring'
import type { AuditRecord } from './record.ts'

/**
 * Where records are read: a PostgreSQL client, and a table whose columns are the members of {@link AuditRecord} in snake_case; or the records themselves,
 * in any order.
 */
export type AuditRecordSource =
  | {
      readonly client: { query(text: string, values: unknown[]): Promise<{ rows: object[] }> }
      /** With its schema before a dot. */
      readonly table: string
    }
  | { readonly records: () => readonly AuditRecord[] }

/**
 * Stores audit records. Nothing changes a record, beside the number of its repetitions, and only the store itself deletes records, when they are older
 * than its retention.
 */
export interface AuditTrailStore {
  /**
   * Adds records, each id once. Of those that it has already, it changes only `repetitions`, to a larger number: a record that a lost connection may have
   * stored is added again, and one with a larger number when its minute is over.
   */
  add(records: readonly AuditRecord[]): Promise<void>
  /**
   * Adds a record that is stored when the transaction commits; COMMIT fails if it cannot be stored. Returns false, and adds nothing, if the transaction
   * has written nothing. A store without this method gets all records after their responses.
   */
  addWithin?: ((record: AuditRecord, transaction: RequestTransaction) => Promise<boolean>) | undefined
  /**
   * Deletes records that are older than the retention at this time, at most `maximum`, and returns their number. Called each minute, also while there are no
   * requests, and again after a full batch. Processes that share the records take turns.
   */
  sweep?: ((now: number, maximum: number) => Promise<number>) | undefined
  readonly source: AuditRecordSource
}
