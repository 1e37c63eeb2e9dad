import { isIP } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { AttemptFailure } from './attempt-failure.ts'
import { bareHost, brokenUrlRule, isLocalhost, type UrlRule } from './callback-url.ts'
import { askDns } from './dns.ts'
import { inTime } from './in-time.ts'
import { isLoopbackAddress, isPublicAddress } from './public-address.ts'
import { type OpenTls, tlsOpener } from './tls-connection.ts'

/** What an {@link addressGuard} lets through, and by what it reaches the network. */
export interface AddressGuardOptions {
  /**
   * The ports that a callback URL may name.
   * @default [443, 8443]
   */
  readonly ports?: readonly number[] | undefined
  /**
   * Authorities to trust beside those that Node trusts, as PEM.
   * @default []
   */
  readonly certificateAuthorities?: readonly string[] | undefined
  /**
   * How long a look-up, the connection and its handshake may take together.
   * @default 5
   */
  readonly connectTimeoutSeconds?: number | undefined
  /**
   * Lets https to this machine through, on any port: for development and tests only. With `'any-certificate'` also receivers whose
   * certificate nobody trusts, as one that they have made themselves.
   * @default false
   */
  readonly dangerouslyAllowLoopback?: boolean | 'any-certificate' | undefined
  /**
   * All addresses of a host. Whatever it answers is judged before any of it is used.
   * @default asks the DNS servers of the system for A and AAAA, never `/etc/hosts`
   */
  readonly resolve?: ((host: string) => Promise<readonly string[]>) | undefined
  /**
   * Opens a TLS connection to one of the addresses that were judged.
   * @default by `node:tls`
   */
  readonly open?: OpenTls | undefined
}

/** Keeps requests to strangers' URLs on the public internet (rule W5). */
export interface AddressGuard {
  /** The rule that a URL breaks, by its text alone: nothing is asked of the network, so an answer tells nothing about it. */
  refusalOf(url: string): UrlRule | undefined
  /**
   * A TLS connection to the host, judged now: its addresses are looked up once, all of them must be public, and the connection goes to
   * one of exactly these. Rejects with an {@link AttemptFailure}; `ADDRESS_REFUSED` before anything was sent to the address.
   */
  connect(host: string, port: number): Promise<TLSSocket>
}

/**
 * Makes the guard between a service and the callback URLs that strangers register. Everything in the special-purpose registries of IANA
 * is refused, in every form, at each connection anew. Throws a `TypeError` of one line for options that make no sense.
 */
export function addressGuard({
  ports = [443, 8443],
  certificateAuthorities = [],
  connectTimeoutSeconds = 5,
  dangerouslyAllowLoopback = false,
  resolve = askDns,
  open = tlsOpener({ certificateAuthorities, anyOnLoopback: dangerouslyAllowLoopback === 'any-certificate' })
}: AddressGuardOptions = {}): AddressGuard {
  const loopback = dangerouslyAllowLoopback !== false
  requirePorts(ports)
  if (!(connectTimeoutSeconds > 0 && connectTimeoutSeconds <= 60)) {
    throw new TypeError(`webhooks: connectTimeoutSeconds is ${connectTimeoutSeconds}. Give a number of seconds up to 60.`)
  }
  const allowance = { ports: new Set(ports.map(String)), loopback }

  function isAllowed(address: string | undefined) {
    return address !== undefined && (isPublicAddress(address) || (loopback && isLoopbackAddress(address)))
  }

  async function addressesOf(host: string) {
    if (isIP(host) !== 0) return [host]
    if (loopback && isLocalhost(host)) return ['127.0.0.1', '::1']
    return resolve(host)
  }

  async function judgedAddressesOf(host: string) {
    const addresses = await addressesOf(host)
    if (addresses.length === 0) throw new AttemptFailure('HOST_NOT_FOUND')
    // One that is not public refuses all: which of them a connection would take is up to chance, and to whoever set up the name.
    if (!addresses.every(isAllowed)) throw new AttemptFailure('ADDRESS_REFUSED')
    return addresses.slice(0, 8)
  }

  return {
    refusalOf: (url) => brokenUrlRule(url, allowance),
    async connect(hostname, port) {
      const host = bareHost(hostname)
      const signal = AbortSignal.timeout(connectTimeoutSeconds * 1000)
      const addresses = await inTime(judgedAddressesOf(host), signal)
      const socket = await open({ addresses, host, port, signal })
      if (isAllowed(socket.remoteAddress)) return socket
      socket.destroy()
      throw new AttemptFailure('ADDRESS_REFUSED')
    }
  }
}

function requirePorts(ports: readonly number[]) {
  if (Array.isArray(ports) && ports.length > 0 && ports.every((port) => Number.isInteger(port) && port > 0 && port < 65_536)) return
  throw new TypeError(`webhooks: ports is ${JSON.stringify(ports)}. Give a list of port numbers, as [443, 8443].`)
}
