/** The stored record of an API key. It does not contain the key itself. */
export interface ApiKeyRecord {
  /** The part of the API key by which its record is found. */
  readonly id: string
  /** SHA-256 of the whole key, in base64url. */
  readonly secretHash: string
  /** The client application that the key identifies. Two keys may identify the same client, so that it can rotate them. */
  readonly client: string
  readonly permissions: readonly string[]
  /** The tenant of the client, with the plugin's option `tenant`. Without it, the key opens only routes without a tenant. */
  readonly tenant?: string | undefined
  /** The time at which the key expires, in milliseconds since the Unix epoch; `undefined` if it never expires. */
  readonly expiresAt?: number | undefined
}

/** Stores API keys. `apiKeyStoreContract` of `@concordat/authentication/testing` tests an implementation. */
export interface ApiKeyStore {
  /** Returns the record with this id, as it was added, or `undefined` if it does not exist. Rejects when the store is unavailable. */
  find(id: string): Promise<ApiKeyRecord | undefined>
  /** Stores a record. Rejects, and keeps the old record, when the id already exists. */
  add(record: ApiKeyRecord): Promise<void>
  /** Removes the record with this id, if it exists, which revokes its API key. */
  remove(id: string): Promise<void>
}

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
