import { createHash, hkdfSync } from 'node:crypto'

/** What one secret is used for. */
export interface CursorKey {
  /** One byte that tells which secret made a cursor; it says nothing about the secret. */
  readonly id: number
  readonly signing: Buffer
  readonly encryption: Buffer
}

/** How cursors are protected: by the first of these keys, the others are still believed; `undefined` when by nothing. */
export type CursorKeys = readonly [CursorKey, ...CursorKey[]] | undefined

/** Settings of cursors. */
export type CursorOptions =
  | {
      /**
       * The secrets that cursors are signed with, the current one first; earlier ones are still believed. At least 32 bytes each.
       */
      readonly secrets: readonly (string | Uint8Array)[]
      /**
       * The age from which a cursor is refused, in seconds. It ends up to a tenth earlier, so that links stay the same for a while.
       * @default none
       */
      readonly maxAgeSeconds?: number | undefined
    }
  | {
      /** Clients can make cursors of their own. Their values are checked as those of filters are; nothing else protects them. */
      readonly dangerouslyUnsigned: true
    }

const shortestSecret = 32

/** Derives the keys. Throws a `TypeError` of one line for a secret that protects nothing. */
export function cursorKeys(secrets: readonly (string | Uint8Array)[]): CursorKeys {
  const keys = secrets.map((secret, index) => {
    const bytes = Buffer.from(secret as string)
    const where = `cursor.secrets[${index}]`
    if (bytes.length < shortestSecret)
      throw new TypeError(`${where} has ${bytes.length} bytes. Give at least ${shortestSecret} random ones.`)
    if (bytes.every((byte) => byte === bytes[0]))
      throw new TypeError(`${where} repeats one character. Give at least ${shortestSecret} random bytes.`)
    const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', bytes, '', `concordat cursor ${purpose}`, 32))
    return {
      id: createHash('sha256').update(derive('id')).digest()[0] as number,
      signing: derive('signing'),
      encryption: derive('encryption')
    }
  })
  if (keys.length === 0)
    throw new TypeError('cursor.secrets is empty. Give the current secret, and the previous one while it may be in use.')
  return keys as unknown as CursorKeys
}
