import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'

type ClientSocket = Socket & {
  readonly encrypted?: boolean | undefined
  readonly authorized?: boolean | undefined
  readonly getPeerCertificate?: ((detailed?: boolean) => object) | undefined
}

/** Connection of a batch as its operations see it. */
export type OperationSocket = ReturnType<typeof operationSocket>

/**
 * Returns the connection of a batch as its operations see it: the same client and TLS state, but not the socket itself, so what a plugin adds or does
 * to it concerns one operation. It is never destroyed, because an operation that has started runs to completion.
 */
export function operationSocket(socket: ClientSocket) {
  const { remoteAddress, remoteFamily, remotePort, localAddress, localPort, authorized } = socket
  const getPeerCertificate = (detailed?: boolean) => socket.getPeerCertificate?.(detailed) ?? {}
  const encrypted = socket.encrypted === true ? true : undefined
  const facts = { remoteAddress, remoteFamily, remotePort, localAddress, localPort, authorized, encrypted, destroyed: false }
  return Object.assign(new EventEmitter(), facts, { getPeerCertificate })
}
