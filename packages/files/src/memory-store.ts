import type { ByteRange, FileStore } from './store.ts'

interface StoredObject {
  readonly bytes: Buffer
  stagedAt: number | undefined
}

/** Creates a store in the memory of this process, for tests and development. */
export function memoryFileStore(): FileStore {
  const objects = new Map<string, StoredObject>()

  function isStaged(id: string) {
    return objects.get(id)?.stagedAt !== undefined
  }

  return {
    async stage(id, bytes) {
      const chunks: Uint8Array[] = []
      for await (const chunk of bytes) chunks.push(chunk)
      objects.set(id, { bytes: Buffer.concat(chunks), stagedAt: Date.now() })
    },
    async keep(ids) {
      const missing = ids.find((id) => !isStaged(id))
      if (missing !== undefined) throw new Error(`files: the object ${missing} is not staged.`)
      for (const id of ids) (objects.get(id) as StoredObject).stagedAt = undefined
    },
    async discard(ids) {
      for (const id of ids) if (isStaged(id)) objects.delete(id)
    },
    async delete(ids) {
      for (const id of ids) objects.delete(id)
    },
    async *read(id: string, range?: ByteRange) {
      const object = objects.get(id)
      if (object === undefined) throw new Error(`files: there is no object ${id}.`)
      yield range === undefined ? object.bytes : object.bytes.subarray(range.start, range.end + 1)
    },
    async sweep(before, maximum) {
      const old = [...objects].filter(([, { stagedAt }]) => stagedAt !== undefined && stagedAt < before).slice(0, maximum)
      for (const [id] of old) objects.delete(id)
      return old.length
    }
  }
}
