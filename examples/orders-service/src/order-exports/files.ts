import type { Statements } from '@concordat/postgres/rows'
import { v7 } from 'uuid'
import { pacer } from './pace.ts'

/** Creates an empty file of an export. */
export async function createFile(database: Statements, exportId: string): Promise<string> {
  const id = v7()
  await database.query('INSERT INTO order_export_files (id, export_id) VALUES ($1, $2)', [id, exportId])
  return id
}

/** Appends orders to a file, as JSON separated by commas. Throws when the file was deleted. */
export async function addChunk(database: Statements, fileId: string, number: number, orders: string): Promise<void> {
  await database.query('INSERT INTO order_export_chunks (file_id, number, orders) VALUES ($1, $2, $3)', [fileId, number, orders])
}

export async function deleteFile(database: Statements, id: string): Promise<void> {
  await database.query('DELETE FROM order_export_files WHERE id = $1', [id])
}

/** Reads a file chunk by chunk, each when the consumer requests it. */
export async function* readChunks(database: Statements, fileId: string): AsyncGenerator<string> {
  const pause = pacer()
  for (let number = 1; ; number += 1) {
    const [chunk] = await database.query<{ orders: string }>('SELECT orders FROM order_export_chunks WHERE file_id = $1 AND number = $2', [
      fileId,
      number
    ])
    if (chunk === undefined) return
    yield chunk.orders
    await pause()
  }
}
