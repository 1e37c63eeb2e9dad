import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'

/**
 * The connection of a batch as its operations see it: the same client at the other end, with TLS or without, so that an operation is
 * judged as its batch was. It is not the socket itself: what a plugin hangs on it, or does to it, is about one operation and not about
 * the batch.
 */
export class OperationSocket extends EventEmitter {
  readonly remoteAddress: string | undefined
  readonly remoteFamily: string | undefined
  readonly remotePort: number | undefined
  readonly localAddress: string | undefined
  readonly localPort: number | undefined
  /** As on a TLS socket; absent on a plain one. */
  readonly encrypted: true | undefined
  readonly authorized: boolean | undefined
  /** An operation that has begun is carried out to its end, whether its client is there or not. */
  readonly destroyed = false
  readonly #socket: Socket & { readonly getPeerCertificate?: (detailed?: boolean) => object }

  constructor(socket: Socket & { readonly encrypted?: boolean; readonly authorized?: boolean }) {
    super()
    this.#socket = socket
    this.remoteAddress = socket.remoteAddress
    this.remoteFamily = socket.remoteFamily
    this.remotePort = socket.remotePort
    this.localAddress = socket.localAddress
    this.localPort = socket.localPort
    this.encrypted = socket.encrypted === true ? true : undefined
    this.authorized = socket.authorized
  }

  /** The certificate of the client, empty without one. */
  getPeerCertificate(detailed?: boolean): object {
    return this.#socket.getPeerCertificate?.(detailed) ?? {}
  }
}
