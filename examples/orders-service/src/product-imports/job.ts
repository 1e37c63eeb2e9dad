import type { FileStore } from '@concordat/files'
import { defineJob, type Job } from '@concordat/jobs'
import type { OpenDatabase } from '@concordat/postgres/open'
import { found, statementsOn } from '@concordat/postgres/rows'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { Id } from '../fields.ts'
import { linesOf } from './csv.ts'
import { type ImportLine, lineReader } from './read-line.ts'
import { addToImport, deleteOldImports, findImport, importLines, lockImport } from './repository.ts'

const Input = Type.Object({ fileId: Id, sizeBytes: Type.Integer(), dryRun: Type.Boolean() })
export type ImportInput = Static<typeof Input>

/** What the jobs need of the service. */
export interface ImportJobOptions {
  readonly app: Pick<FastifyInstance, 'webhooks'>
  readonly database: OpenDatabase
  readonly files: FileStore
}

const linesPerTransaction = 100

/**
 * Reads a file that was uploaded, and stores its products. A hundred lines and their counts are one transaction, so an attempt that continues after
 * another one begins with the first line that was not counted.
 */
export function productImportJob({ app, database, files }: ImportJobOptions): Job<ImportInput> {
  return defineJob<ImportInput>({
    name: 'product-import',
    input: Input,
    concurrency: 1,
    async handler({ fileId, sizeBytes, dryRun }, { progress, signal }) {
      const { linesRead } = found(await findImport(database, fileId))
      const lines = linesOf(files.read(fileId))
      const header = await lines.next()
      const read = lineReader(header.value?.fields ?? [])
      let [position, batch]: [number, ImportLine[]] = [0, []]
      for await (const line of lines) {
        batch.push(read(line))
        if (batch.length === linesPerTransaction) await store(line.bytes)
      }
      await store(sizeBytes)

      async function store(bytes: number) {
        signal.throwIfAborted()
        if (batch.length > 0 && position >= linesRead) await storeLines(batch, position)
        position += batch.length
        batch = []
        progress(bytes, sizeBytes)
      }

      async function storeLines(next: readonly ImportLine[], after: number) {
        await database.postgres.transaction(async (transaction) => {
          const rows = statementsOn(transaction)
          const state = found(await lockImport(rows, fileId))
          // Another attempt, which was taken for lost, may have stored them.
          if (state.linesRead !== after) return
          const onChange = (product: object) => app.webhooks.emit('product.updated', product, { transaction })
          await addToImport(rows, fileId, await importLines(rows, next, { writes: !dryRun, onChange }))
        })
      }
    }
  })
}

/** Deletes the files of imports whose jobs have expired, whether they were completed, failed or cancelled. */
export function importCleanupJob({ database, files }: Omit<ImportJobOptions, 'app'>): Job<null> {
  const deleteSome = () =>
    database.postgres.transaction(async (transaction) => {
      const ids = await deleteOldImports(statementsOn(transaction))
      await files.delete(ids, transaction)
      return ids.length
    })
  return defineJob<null>({
    name: 'product-import-cleanup',
    input: Type.Null(),
    async handler(_input, { signal }) {
      while (!signal.aborted && (await deleteSome()) > 0);
    }
  })
}
