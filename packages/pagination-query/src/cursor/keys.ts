import { createHash, hkdfSync } from 'node:crypto'
import { optionChecks } from '@concordat/plugin-options'

/** The keys that are derived from a secret. */
export interface CursorKey {
  /** A byte that identifies the secret with which a cursor was created. It reveals nothing about the secret. */
  readonly id: number
  readonly signing: Buffer
  readonly encryption: Buffer
}

/** The keys that protect cursors: new cursors use the first key, and the other keys are still accepted. */
export type CursorKeys = readonly [CursorKey, ...CursorKey[]]

/** Options for signing cursors and limiting their age. */
export interface CursorOptions {
  /**
   * The secrets that sign cursors. The first is the current secret; cursors with the others are still accepted. At least 32
   * bytes each.
   */
  readonly secrets: readonly (string | Uint8Array)[]
  /**
   * The age at which a cursor expires, in seconds. A cursor can expire up to a tenth earlier, so that links are stable for a while.
   * @default none: cursors do not expire
   */
  readonly maxAgeSeconds?: number | undefined
}

const check = optionChecks('pagination-query')

/** Derives the keys from the secrets. Throws a `TypeError` for a weak secret. */
export function cursorKeys(secrets: readonly (string | Uint8Array)[] = []): CursorKeys {
  const keys = secrets.map((secret, index) => {
    const bytes = Buffer.from(check.secret(`options.cursor.secrets[${index}]`, secret) as string)
    const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', bytes, '', `concordat cursor ${purpose}`, 32))
    return {
      id: createHash('sha256').update(derive('id')).digest()[0] as number,
      signing: derive('signing'),
      encryption: derive('encryption')
    }
  })
  if (keys.length === 0)
    throw new TypeError(
      'pagination-query: options.cursor.secrets is empty. Add the current secret, and the previous secret while it may be in use.'
    )
  return keys as unknown as CursorKeys
}
