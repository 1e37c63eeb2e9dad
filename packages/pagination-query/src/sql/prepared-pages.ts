import { keyName } from './parts.ts'

/** What of a client of `pg` is needed here. */
export interface PgClient {
  query(...asked: never[]): unknown
}

const mostStatements = 100

/**
 * Has PostgreSQL keep the statements of pages: it reads and plans each once per connection, not for each page, which is a quarter of
 * the time of a page. For a pool of `pg`, whatever adapter uses it: `pool.on('connect', preparePages)`. At most 100 statements of
 * a connection are kept; further ones run as without it.
 *
 * Not behind a pooler that gives each transaction another connection, unless it knows about prepared statements (PgBouncer from
 * 1.21 on, with `max_prepared_statements`). After a change of a column's type, PostgreSQL refuses what it has kept until the
 * connection ends.
 */
export function preparePages(client: PgClient): void {
  const query = client.query.bind(client) as (...asked: unknown[]) => unknown
  const names = new Map<string, string>()
  client.query = (asked: unknown, ...others: unknown[]) => query(named(asked), ...others)

  function named(asked: unknown): unknown {
    const statement = typeof asked === 'string' ? { text: asked } : asked
    const { text, name, submit } = statement as Readonly<Record<string, unknown>>
    // What submits itself, as a cursor or a stream of rows does, is not put together anew.
    if (typeof text !== 'string' || name !== undefined || submit !== undefined) return asked
    const kept = names.get(text) ?? keep(text)
    return kept === undefined ? asked : { ...(statement as object), name: kept }
  }

  function keep(text: string) {
    if (names.size === mostStatements || !text.includes(keyName(0))) return undefined
    const name = `page_${names.size + 1}`
    names.set(text, name)
    return name
  }
}
