import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'

/** The client that makes a request. */
export interface Client {
  /**
   * A string that identifies the client, for example the issuer and subject of a token, or the id of an API key. Must not be a secret, because it
   * is stored. A key longer than 128 characters is stored as its SHA-256.
   */
  readonly key: string
  /** The name of the client's tier in the option `tiers`. For a tier without a limit there, `clientLimit` applies. */
  readonly tier?: string | undefined
}

/** Returns the client of a request, or undefined for an empty key. Throws a `TypeError` for a value that would count different clients as one. */
export function identify(client: (request: FastifyRequest) => Client | undefined, request: FastifyRequest): Client | undefined {
  const known = client(request)
  // For example from a header that a client sends without a value.
  if (known?.key === '') return undefined
  if (known !== undefined && typeof known?.key !== 'string') {
    throw new TypeError('rate-limiting: options.client returned a value without a key. Return { key } with a unique string, or undefined.')
  }
  return known
}

/** Returns the key of a client, or its hash if the key is longer than 128 characters. */
export function clientKey({ key }: Client): string {
  return key.length <= 128 ? key : hash('sha256', key, 'base64url')
}
