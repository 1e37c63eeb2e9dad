import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'

/** The client that makes a request. */
export interface Client {
  /** Identifies the client, for example the issuer and subject of a token. Must not be a secret, because it is stored. */
  readonly key: string
  /** The name of the client's tier in the option `tiers`. For a tier without a limit there, `clientLimit` applies. */
  readonly tier?: string | undefined
}

/**
 * Returns the client of a request, with a hash for a key that is longer than 128 characters, or undefined for an empty key. Throws a `TypeError` for a
 * value that would count different clients as one.
 */
export function identify(client: (request: FastifyRequest) => Client | undefined, request: FastifyRequest): Client | undefined {
  const known = client(request)
  // For example from a header that a client sends without a value.
  if (known === undefined || known?.key === '') return undefined
  if (typeof known?.key !== 'string') {
    throw new TypeError('rate-limiting: options.client returned a value without a key. Return { key } with a unique string, or undefined.')
  }
  return known.key.length <= 128 ? known : { ...known, key: hash('sha256', known.key, 'base64url') }
}
