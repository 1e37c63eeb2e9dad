import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'

/** Who makes a request. */
export interface Client {
  /**
   * Tells the client from every other: issuer and subject of a token, the id of an API key. No secret, since a store keeps it; what is
   * longer than 128 characters is kept as its SHA-256.
   */
  readonly key: string
  /** The class of clients it belongs to, by its name in the option `tiers`. What has no limit there has `clientLimit`. */
  readonly tier?: string | undefined
}

/** Asks who makes a request, and refuses an answer that would count different clients as one. */
export function identify(client: (request: FastifyRequest) => Client | undefined, request: FastifyRequest): Client | undefined {
  const known = client(request)
  if (known !== undefined && (typeof known?.key !== 'string' || known.key === '')) {
    throw new TypeError('rate-limiting: client gave an answer without a key. Give { key }, a text that tells clients apart, or undefined.')
  }
  return known
}

/** The key of a client, of bounded length. */
export function clientKey({ key }: Client): string {
  return key.length <= 128 ? key : hash('sha256', key, 'base64url')
}
