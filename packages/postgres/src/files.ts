import type { FileStore } from '@concordat/files'
import { handlerContexts } from './connections/handler-context.ts'
import { type Postgres, type SqlClient, type StoreOptions, schemaOf } from './connections/postgres.ts'
import { joined } from './joined.ts'
import { type Migration, migrationsOf } from './migrations/migration.ts'
import { retention } from './sweep.ts'
import { unitBehind } from './unit-of-work/unit.ts'

/** The migrations that create the tables of {@link postgresFileStore}; pass them to `migrate`. */
export const fileMigrations: readonly Migration[] = migrationsOf('files', [
  // An object without this time is permanent.
  `CREATE TABLE {schema}.files (
      id uuid PRIMARY KEY,
      staged_at timestamptz DEFAULT now()
    )`,
  `CREATE INDEX files_staged_at ON {schema}.files (staged_at) WHERE staged_at IS NOT NULL`,
  `CREATE TABLE {schema}.file_chunks (
      file_id uuid NOT NULL REFERENCES {schema}.files ON DELETE CASCADE,
      position integer NOT NULL,
      bytes bytea NOT NULL,
      PRIMARY KEY (file_id, position)
    )`,
  // Files are mostly compressed already.
  `ALTER TABLE {schema}.file_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL`
])

const chunkBytes = 262_144

/**
 * Creates a store of files in PostgreSQL, in chunks of 256 KiB. The statements that stage a file are committed one by one, so that no transaction and no
 * connection waits for a client; the files of a request with a transaction of the unit of work become permanent with its COMMIT.
 */
export function postgresFileStore(database: Postgres, options: StoreOptions = {}): FileStore {
  const schema = schemaOf(options)
  const [files, chunks] = [`${schema}.files`, `${schema}.file_chunks`]
  const insertChunk = `INSERT INTO ${chunks} (file_id, position, bytes) VALUES ($1::uuid, $2, $3)`
  const isOneOf = 'id = ANY($1::uuid[])'
  const keep = `UPDATE ${files} SET staged_at = NULL WHERE ${isOneOf} AND staged_at IS NOT NULL RETURNING 1`
  // All of them or none.
  const keepAlone = `WITH kept AS (${keep}), found AS (SELECT count(*) AS n FROM kept)
    SELECT (1 / (CASE WHEN n = cardinality($1::uuid[]) THEN 1 ELSE 0 END))::text AS json FROM found`
  const discardStaged = `DELETE FROM ${files} WHERE ${isOneOf} AND staged_at IS NOT NULL`
  const readChunk = `SELECT to_json(encode(bytes, 'base64'))::text AS json FROM ${chunks} WHERE file_id = $1::uuid AND position = $2`
  const deleteBefore = retention(database, files, 'staged_at', 'timestamptz')

  return {
    async stage(id, bytes) {
      let position = 0
      await database.background.query(`INSERT INTO ${files} (id) VALUES ($1::uuid)`, [id])
      for await (const chunk of inChunks(bytes)) {
        await database.background.query(insertChunk, [id, position, chunk])
        position += 1
      }
    },
    async keep(ids, transaction) {
      if (ids.length === 0) return
      if (transaction === undefined) {
        await database.background.query(keepAlone, [listOf(ids)])
        return
      }
      const kept = await unitBehind(transaction, 'enclosing').session.query(() => [keep, [listOf(ids)]])
      if (kept.length !== ids.length)
        throw new Error('postgres: a staged file is missing, so the request that sent it cannot be committed.')
    },
    async discard(ids) {
      if (ids.length === 0) return
      // In PGlite, it waits until the transaction of the handler has ended.
      await handlerContexts.run(undefined, () => database.background.query(discardStaged, [listOf(ids)]))
    },
    // The client of the service's own SQL is refused in a request with a tenant, whose rows it would not see.
    async delete(ids, transaction = database.reads(undefined)) {
      await (transaction as SqlClient).query(`DELETE FROM ${files} WHERE ${isOneOf}`, [listOf(ids)])
    },
    async *read(id, { start, end } = { start: 0, end: Number.POSITIVE_INFINITY }, transaction) {
      const queries = joined(database.background, transaction as SqlClient | undefined)
      const first = Math.floor(start / chunkBytes)
      const last = Math.floor(end / chunkBytes)
      for (let position = first; position <= last; position += 1) {
        const [text] = await queries.query<string>(readChunk, [id, position])
        if (text === undefined && position === first) throw new Error(`postgres: there is no file ${id}.`)
        if (text === undefined) return
        const offset = position * chunkBytes
        yield Buffer.from(text, 'base64').subarray(Math.max(0, start - offset), end - offset + 1)
      }
    },
    sweep: async (before, maximum) => deleteBefore(new Date(before).toISOString(), maximum)
  }
}

// As the text of an array, which every driver sends in the same form.
function listOf(ids: readonly string[]) {
  return `{${ids.join(',')}}`
}

/** Yields the bytes in chunks of the same size, of which the last can be shorter; one that is empty for no bytes. */
async function* inChunks(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let waiting = Buffer.alloc(0)
  let isFirst = true
  for await (const chunk of bytes) {
    waiting = Buffer.concat([waiting, chunk])
    for (; waiting.length >= chunkBytes; waiting = waiting.subarray(chunkBytes)) {
      yield waiting.subarray(0, chunkBytes)
      isFirst = false
    }
  }
  if (isFirst || waiting.length > 0) yield waiting
}
