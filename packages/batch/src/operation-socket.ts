import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'

/**
 * Connection of a batch as its operations see it: the same client and the same TLS state, so checks on the connection give the same result
 * for an operation as for its batch. It is not the socket itself, so what a plugin adds or does to it concerns one operation and not the
 * batch.
 */
export class OperationSocket extends EventEmitter {
  readonly remoteAddress: string | undefined
  readonly remoteFamily: string | undefined
  readonly remotePort: number | undefined
  readonly localAddress: string | undefined
  readonly localPort: number | undefined
  /** `true` on a TLS socket, undefined on a plain socket. */
  readonly encrypted: true | undefined
  readonly authorized: boolean | undefined
  /** Always `false`, because an operation that has started runs to completion, even if its client disconnects. */
  readonly destroyed = false
  readonly #socket: Socket & { readonly getPeerCertificate?: ((detailed?: boolean) => object) | undefined }

  constructor(socket: Socket & { readonly encrypted?: boolean | undefined; readonly authorized?: boolean | undefined }) {
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

  /** Returns the certificate of the client, or an empty object. */
  getPeerCertificate(detailed?: boolean): object {
    return this.#socket.getPeerCertificate?.(detailed) ?? {}
  }
}
