import { isIP, type LookupFunction } from 'node:net'
import { connect, createSecureContext, getCACertificates, type TLSSocket } from 'node:tls'
import { AttemptFailure } from './attempt-failure.ts'
import { isLoopbackAddress } from './public-address.ts'

/** Where to connect: the addresses are judged, the host is for the certificate. */
export interface TlsTarget {
  readonly addresses: readonly string[]
  readonly host: string
  readonly port: number
  /** Ends the trial. */
  readonly signal: AbortSignal
}

/** Opens a connection whose certificate is trusted, or rejects with an `AttemptFailure`. */
export type OpenTls = (target: TlsTarget) => Promise<TLSSocket>

// How long one of several addresses is waited for. Node's own 250 ms give up those that are far away, or of a process that is busy.
const patience = { autoSelectFamilyAttemptTimeout: 1500 }

/** What is trusted besides what Node trusts. */
export interface TlsTrust {
  /** PEM. */
  readonly certificateAuthorities: readonly string[]
  /** This machine, whatever its certificate is. */
  readonly anyOnLoopback: boolean
}

/** Opens connections by `node:tls`; to which of several addresses, happy eyeballs decide (RFC 8305). */
export function tlsOpener({ certificateAuthorities, anyOnLoopback }: TlsTrust): OpenTls {
  const ca = certificateAuthorities.length === 0 ? {} : { ca: [...getCACertificates(), ...certificateAuthorities] }
  // Read once: parsing the authorities takes longer than a handshake.
  const secureContext = createSecureContext({ ...ca, minVersion: 'TLSv1.2' })

  return ({ addresses, host, port, signal }) =>
    new Promise((resolve, reject) => {
      const lookup = pinnedTo(addresses)
      const servername = isIP(host) === 0 ? host : ''
      // Said aloud, so that no variable of the environment lets an untrusted certificate through.
      const rejectUnauthorized = !(anyOnLoopback && addresses.every(isLoopbackAddress))
      const trust = { servername, secureContext, rejectUnauthorized, ALPNProtocols: ['http/1.1'] }
      const socket = connect({ host, port, lookup, ...trust, ...patience })
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
  // Node asks for all where it may try several, which a flag of the process can turn off.
  return (_host, { all }, callback) =>
    all
      ? callback(
          null,
          [first, ...others].map((address) => ({ address, family: isIP(address) }))
        )
      : callback(null, first, isIP(first))
}
