import type { RequestTransaction } from '@concordat/plugin-wiring'
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

/** Stores audit records. Nothing changes a record, and only the store itself deletes records, when they are older than its retention. */
export interface AuditTrailStore {
  /** Whether `add` can write in the transaction of a request. */
  readonly isTransactional: boolean
  /**
   * Adds records, and ignores those that it has already: a record that a lost connection may have stored is added again. In a transaction, they are stored
   * when it commits, and COMMIT fails if they cannot be stored.
   */
  add(records: readonly AuditRecord[], transaction?: RequestTransaction): Promise<void>
  readonly source: AuditRecordSource
}
