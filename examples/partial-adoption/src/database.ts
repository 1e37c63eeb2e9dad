/** What the service uses of its database: a pool of `pg`, or PGlite. */
export interface Database {
  query(sql: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>
}

/** The tables of the service. */
export const tables = ['orders', 'payments', 'products', 'invoices', 'searches', 'parcels', 'reports'] as const

/** Creates the tables of the service. */
export async function createTables(database: Database): Promise<void> {
  for (const table of tables) {
    await database.query(
      `CREATE TABLE ${table} (id serial PRIMARY KEY, name text NOT NULL, amount integer NOT NULL, version integer NOT NULL DEFAULT 1)`
    )
  }
}
