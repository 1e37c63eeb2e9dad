import { isIP, type LookupFunction } from 'node:net'
import tls, { type TLSSocket } from 'node:tls'
import { AttemptFailure } from './attempt-failure.ts'
import { isLoopbackAddress } from './public-address.ts'

/** The target of a connection. Its addresses have been checked; the host is for the certificate. */
interface TlsTarget {
  readonly addresses: readonly string[]
  readonly host: string
  readonly port: number
  readonly signal: AbortSignal
}

// The time limit for each of several addresses. The 250 ms of Node.js are too short for distant addresses and busy processes.
const patience = { autoSelectFamilyAttemptTimeout: 1500 }

/**
 * Returns a function that opens a TLS connection, or rejects with an `AttemptFailure`; Happy Eyeballs selects one of several addresses (RFC 8305). It
 * trusts the certificate authorities of Node.js, and with `anyOnLoopback` any certificate of this machine.
 */
export function tlsOpener(anyOnLoopback: boolean): (target: TlsTarget) => Promise<TLSSocket> {
  // Read once: parsing the authorities takes longer than a handshake.
  const secureContext = tls.createSecureContext({ minVersion: 'TLSv1.2' })

  return ({ addresses, host, port, signal }) =>
    new Promise((resolve, reject) => {
      const lookup = pinnedTo(addresses)
      const servername = isIP(host) === 0 ? host : ''
      // Set explicitly, so that no environment variable makes Node.js accept an untrusted certificate.
      const rejectUnauthorized = !(anyOnLoopback && addresses.every(isLoopbackAddress))
      const trust = { servername, secureContext, rejectUnauthorized, ALPNProtocols: ['http/1.1'] }
      const socket = tls.connect({ host, port, lookup, ...trust, ...patience })
      let reached = false
      const end = () => socket.destroy(new AttemptFailure('TIMEOUT'))
      const fail = (error: Error) => {
        signal.removeEventListener('abort', end)
        reject(error instanceof AttemptFailure ? error : new AttemptFailure(reached ? 'TLS_FAILED' : 'CONNECTION_FAILED', error))
      }
      signal.addEventListener('abort', end, { once: true })
      socket.setNoDelay(true)
      socket.once('connect', () => (reached = true))
      socket.once('error', fail)
      socket.once('secureConnect', () => {
        signal.removeEventListener('abort', end)
        socket.removeListener('error', fail)
        resolve(socket)
      })
    })
}

function pinnedTo(addresses: readonly string[]): LookupFunction {
  const [first = '', ...others] = addresses
  // Node.js requests all addresses when it may try several of them, which a process flag can turn off.
  return (_host, { all }, callback) =>
    all
      ? callback(
          null,
          [first, ...others].map((address) => ({ address, family: isIP(address) }))
        )
      : callback(null, first, isIP(first))
}
