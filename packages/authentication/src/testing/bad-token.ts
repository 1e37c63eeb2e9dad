import type { KeyObject } from 'node:crypto'

/** A token that every service must reject. */
export interface BadToken {
  /** A phrase that says what is wrong with the token. */
  readonly name: string
  readonly token: string
  /** Whether the expiry is the only fault, so that `TOKEN_EXPIRED` is a correct response. */
  readonly expired: boolean
}

/** The parts of a valid token, and the function that signs variations of the token. */
export interface GoodToken {
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
  /** The public key; absent for HS256. */
  readonly publicKey: KeyObject | undefined
  readonly secret: string
  readonly signed: (header: unknown, payload: unknown) => string
}

/** The name of the fault, and the token. */
export type Case = readonly [name: string, token: string]
