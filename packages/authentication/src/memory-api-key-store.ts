import type { ApiKeyRecord, ApiKeyStore } from './api-key-store.ts'

/** Stores API keys in the memory of one process, for tests and for keys from the configuration. */
export function memoryApiKeyStore(records: readonly ApiKeyRecord[] = []): ApiKeyStore {
  const byId = new Map(records.map((record) => [record.id, structuredClone(record)]))
  return {
    async find(id) {
      return structuredClone(byId.get(id))
    },
    async add(record) {
      if (byId.has(record.id)) throw new Error('An API key with this id already exists.')
      byId.set(record.id, structuredClone(record))
    },
    async remove(id) {
      byId.delete(id)
    }
  }
}
