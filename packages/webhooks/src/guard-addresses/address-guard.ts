import dns from 'node:dns/promises'
import { isIP } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { withDeadline } from '@concordat/plugin-kit/deadline'
import { AttemptFailure } from './attempt-failure.ts'
import { bareHost, brokenUrlRule, isLocalhost, type UrlRule } from './callback-url.ts'
import { isLoopbackAddress, isPublicAddress } from './public-address.ts'
import { tlsOpener } from './tls-connection.ts'

/** What a guard allows. */
interface GuardSettings {
  readonly ports: readonly number[]
  readonly dangerouslyAllowLoopback: boolean | 'any-certificate'
  /** The maximum time for the DNS lookup, the connection and the TLS handshake together. */
  readonly connectMs: number
}

/** Ensures that requests to callback URLs go only to addresses on the public internet (rule W5). */
export interface AddressGuard {
  /** Returns the rule that a URL breaks, or undefined. No lookup is made, so the result reveals nothing about the network. */
  refusalOf(url: string): UrlRule | undefined
  /**
   * Looks up the addresses of the host once, requires all of them to be public, and opens a TLS connection to one of them. Rejects with an error
   * that has a `code`; with `NO_PUBLIC_ADDRESS` before anything is sent to the address.
   */
  connect(host: string, port: number): Promise<TLSSocket>
}

/** Creates a guard that checks the addresses again at each connection. Throws a `TypeError` of one line for invalid ports. */
export function addressGuard({ ports, dangerouslyAllowLoopback, connectMs: ms }: GuardSettings): AddressGuard {
  const loopback = dangerouslyAllowLoopback !== false
  const open = tlsOpener(dangerouslyAllowLoopback === 'any-certificate')
  requirePorts(ports)
  const allowance = { ports: new Set(ports.map(String)), loopback }

  function isAllowed(address: string | undefined) {
    return address !== undefined && (isPublicAddress(address) || (loopback && isLoopbackAddress(address)))
  }

  async function checkedAddressesOf(host: string) {
    const addresses = isIP(host) !== 0 ? [host] : loopback && isLocalhost(host) ? ['127.0.0.1', '::1'] : await queryDns(host)
    // One address that is not public refuses all of them: chance, and the owner of the name, decide which address a connection uses.
    if (addresses.length === 0 || !addresses.every(isAllowed)) throw new AttemptFailure('NO_PUBLIC_ADDRESS')
    return addresses.slice(0, 8)
  }

  return {
    refusalOf: (url) => brokenUrlRule(url, allowance),
    async connect(hostname, port) {
      const host = bareHost(hostname)
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
