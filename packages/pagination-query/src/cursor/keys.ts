import { createHash, hkdfSync } from 'node:crypto'
import { describeOptions, integer, optionChecks, required, value } from '@concordat/plugin-kit/options'

/** The description of the option `cursor`. */
export const cursorOptions = describeOptions('pagination-query', {
  /** At least 32 random bytes each: the current secret, then previous ones, which are still accepted. */
  secrets: required(value<readonly (string | Uint8Array)[]>()),
  /** When cursors expire, or up to a tenth earlier. By default never. */
  maxAgeSeconds: integer({ min: 1 })
})

/** The keys that are derived from a secret. */
export interface CursorKey {
  /** A byte that identifies the secret, and reveals nothing about it. */
  readonly id: number
  readonly signing: Buffer
  readonly encryption: Buffer
}

/** The keys that protect cursors: new cursors use the first key, and the other keys are still accepted. */
export type CursorKeys = readonly [CursorKey, ...CursorKey[]]

const check = optionChecks('pagination-query')

/** Derives the keys from the secrets. Throws a `TypeError` for a weak secret. */
export function cursorKeys(secrets: readonly (string | Uint8Array)[] = []): CursorKeys {
  const [first, ...others] = secrets.map((secret, index) => {
    const bytes = Buffer.from(check.secret(`options.cursor.secrets[${index}]`, secret) as string)
    const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', bytes, '', `concordat cursor ${purpose}`, 32))
    const id = createHash('sha256').update(derive('id')).digest()[0] as number
    return { id, signing: derive('signing'), encryption: derive('encryption') }
  })
  if (first !== undefined) return [first, ...others]
  throw new TypeError(
    'pagination-query: options.cursor.secrets is empty. Add the current secret, and the previous secret while it may be in use.'
  )
}
