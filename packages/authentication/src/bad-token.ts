import type { KeyObject } from 'node:crypto'

/** A token that has to be refused. */
export interface BadToken {
  /** What is wrong with it. */
  readonly name: string
  readonly token: string
  /** Whether its time is the only thing wrong, so that `TOKEN_EXPIRED` may be said. */
  readonly expired: boolean
}

/** A good token, and what signs another like it. */
export interface GoodToken {
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
  /** Absent for HS256. */
  readonly publicKey: KeyObject | undefined
  readonly secret: string
  readonly signed: (header: unknown, payload: unknown) => string
}

/** What is wrong, and the token. */
export type Case = readonly [name: string, token: string]
