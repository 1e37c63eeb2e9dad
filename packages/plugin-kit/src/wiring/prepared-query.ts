/** The name of the method of a client that runs a statement as `query` does, and lets the connection prepare it. For texts that repeat. */
export const preparedQuery: unique symbol = Symbol.for('concordat.preparedQuery')

/** A client of a database that may prepare statements. */
export interface PreparingClient {
  [preparedQuery]?(text: string, values: unknown[]): Promise<{ rows: object[]; rowCount: number }>
}
