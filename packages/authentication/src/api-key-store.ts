/** What is kept of an API key. The key itself is not in it. */
export interface ApiKeyRecord {
  /** The part of the key by which it is found. */
  readonly id: string
  /** SHA-256 of the whole key, in base64url. */
  readonly secretHash: string
  /** The client application that the key names. Two keys may name one client, so that it can rotate them. */
  readonly client: string
  readonly permissions: readonly string[]
  /** In milliseconds since 1970; `undefined`: no end. */
  readonly expiresAt?: number | undefined
}

/** Where API keys are kept. `apiKeyStoreContract` tests one. */
export interface ApiKeyStore {
  /** The record with this id, as it was added; `undefined` when there is none. Rejects when the store can't be asked. */
  find(id: string): Promise<ApiKeyRecord | undefined>
  /** Keeps a record. Rejects, and keeps the old one, when the id is taken. */
  add(record: ApiKeyRecord): Promise<void>
  /** Forgets a record, if there is one: its key is void from then on. */
  remove(id: string): Promise<void>
}
