import dns from 'node:dns/promises'
import { isIP } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { withDeadline } from '@concordat/deadline'
import { optionChecks } from '@concordat/plugin-options'
import { AttemptFailure } from './attempt-failure.ts'
import { bareHost, brokenUrlRule, isLocalhost, type UrlRule } from './callback-url.ts'
import { isLoopbackAddress, isPublicAddress } from './public-address.ts'
import { type OpenTls, tlsOpener } from './tls-connection.ts'

/** Options of {@link addressGuard}. */
export interface AddressGuardOptions {
  /**
   * The ports that a callback URL may have.
   * @default [443, 8443]
   */
  readonly ports?: readonly number[] | undefined
  /**
   * Certificate authorities to trust in addition to those of Node.js, in PEM format.
   * @default []
   */
  readonly certificateAuthorities?: readonly string[] | undefined
  /**
   * The maximum time for the DNS lookup, the connection and the TLS handshake together, in seconds.
   * @default 5
   */
  readonly connectTimeoutSeconds?: number | undefined
  /**
   * Whether https to this machine is allowed, on any port; for development and tests only. `'any-certificate'` also allows receivers on this machine
   * whose certificate is not trusted, for example a self-signed certificate.
   * @default false
   */
  readonly dangerouslyAllowLoopback?: boolean | 'any-certificate' | undefined
  /**
   * Returns all addresses of a host. All of them are checked before any of them is used.
   * @default queries the DNS servers of the system for A and AAAA records, never `/etc/hosts`
   */
  readonly resolve?: ((host: string) => Promise<readonly string[]>) | undefined
  /**
   * Opens a TLS connection to one of the checked addresses.
   * @default uses `node:tls`
   */
  readonly open?: OpenTls | undefined
}

/** Ensures that requests to callback URLs go only to addresses on the public internet (rule W5). */
export interface AddressGuard {
  /**
   * Returns the rule that a URL breaks, or undefined. Only the text of the URL is checked: no lookup is made, so the result reveals nothing
   * about the network.
   */
  refusalOf(url: string): UrlRule | undefined
  /**
   * Looks up the addresses of the host once, requires all of them to be public, and opens a TLS connection to one of them. Rejects with an {@link
   * AttemptFailure}; with `NO_PUBLIC_ADDRESS` before anything is sent to the address.
   */
  connect(host: string, port: number): Promise<TLSSocket>
}

const { number } = optionChecks('webhooks')

/**
 * Creates a guard that allows requests to callback URLs only if they go to public addresses. Every address in the special-purpose registries of IANA
 * is refused, in every form, and checked again at each connection. Throws a `TypeError` with a one-line message for invalid options.
 */
export function addressGuard({
  ports = [443, 8443],
  certificateAuthorities = [],
  connectTimeoutSeconds = 5,
  dangerouslyAllowLoopback = false,
  resolve = queryDns,
  open = tlsOpener(certificateAuthorities, dangerouslyAllowLoopback === 'any-certificate')
}: AddressGuardOptions = {}): AddressGuard {
  const loopback = dangerouslyAllowLoopback !== false
  requirePorts(ports)
  number('options.connectTimeoutSeconds', connectTimeoutSeconds, 0.001, 60)
  const allowance = { ports: new Set(ports.map(String)), loopback }

  function isAllowed(address: string | undefined) {
    return address !== undefined && (isPublicAddress(address) || (loopback && isLoopbackAddress(address)))
  }

  async function addressesOf(host: string) {
    if (isIP(host) !== 0) return [host]
    if (loopback && isLocalhost(host)) return ['127.0.0.1', '::1']
    return resolve(host)
  }

  async function checkedAddressesOf(host: string) {
    const addresses = await addressesOf(host)
    // One address that is not public refuses all of them: chance, and the owner of the name, decide which address a connection uses.
    if (addresses.length === 0 || !addresses.every(isAllowed)) throw new AttemptFailure('NO_PUBLIC_ADDRESS')
    return addresses.slice(0, 8)
  }

  return {
    refusalOf: (url) => brokenUrlRule(url, allowance),
    async connect(hostname, port) {
      const host = bareHost(hostname)
      const ms = connectTimeoutSeconds * 1000
      const signal = AbortSignal.timeout(ms)
      const addresses = await withDeadline(checkedAddressesOf(host), { ms, onTimeout: () => new AttemptFailure('TIMEOUT') })
      const socket = await open({ addresses, host, port, signal })
      if (isAllowed(socket.remoteAddress)) return socket
      socket.destroy()
      throw new AttemptFailure('NO_PUBLIC_ADDRESS')
    }
  }
}

/** Returns all addresses of a host in the DNS, of the servers of the system or of `dns.setServers`; none when the DNS does not respond. */
async function queryDns(host: string): Promise<readonly string[]> {
  // Not dns.lookup: it occupies one of the few threads that file access and all other lookups of the process share, and a receiver's own
  // name server could block it.
  const results = await Promise.allSettled([dns.resolve4(host), dns.resolve6(host)])
  return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
}

function requirePorts(ports: readonly number[]) {
  if (Array.isArray(ports) && ports.length > 0 && ports.every((port) => Number.isInteger(port) && port > 0 && port < 65_536)) return
  throw new TypeError(`webhooks: options.ports must be an array of port numbers, for example [443, 8443], but is ${JSON.stringify(ports)}.`)
}
