import type { RequestTransaction } from '@concordat/plugin-kit/wiring'

/** A part of a file: the positions of its first and last byte. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * Stores the bytes of files, each under a random id (UUID), for all processes together. What the file is called and what it is about belongs in a row of
 * the service. An object is staged while its request is received, and permanent with the response.
 */
export interface FileStore {
  /** Stages an object, and resolves when all bytes are stored. Reads the next bytes only when the earlier ones are stored. Rejects if the bytes cannot be read. */
  stage(id: string, bytes: AsyncIterable<Uint8Array>): Promise<void>
  /**
   * Makes staged objects permanent, with the transaction of the request if it has one: then a rollback leaves them staged. Rejects if one is not staged.
   */
  keep(ids: readonly string[], transaction?: RequestTransaction): Promise<void>
  /** Deletes those of the objects that are staged. Called while the transaction of the request may still be open. */
  discard(ids: readonly string[]): Promise<void>
  /**
   * Deletes objects, staged or permanent, with a transaction of the service if the store can take part in it, such as `request.transaction` for PostgreSQL.
   * An id without an object has no effect.
   */
  delete(ids: readonly string[], transaction?: object): Promise<void>
  /**
   * Returns the bytes of an object, or of a part of it, which is within its length. With a transaction, as for `delete`, a handler reads what its request
   * has sent. Throws while they are read if the object does not exist.
   */
  read(id: string, range?: ByteRange, transaction?: object): AsyncIterable<Uint8Array>
  /**
   * Deletes at most `maximum` objects that were staged before this time, and returns their number. Called every hour, and again after a full batch.
   * Processes that share the objects take turns.
   */
  sweep(before: number, maximum: number): Promise<number>
}
