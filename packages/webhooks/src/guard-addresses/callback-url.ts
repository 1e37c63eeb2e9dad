import { isIP } from 'node:net'
import { isLoopbackAddress } from './public-address.ts'

/** A rule for callback URLs. A refusal names the rule that the URL breaks. */
export type UrlRule = 'urlFormat' | 'urlScheme' | 'urlUserinfo' | 'urlFragment' | 'urlPort' | 'urlAddress' | 'urlName'

/** The allowed ports, and whether https to this machine is allowed, on any port. */
interface UrlAllowance {
  readonly ports: ReadonlySet<string>
  readonly loopback: boolean
}

export const maxUrlLength = 2048

// Top-level names that never resolve on the public internet (RFC 6761, 6762, 7686, 8375, 9476; ICANN's name collisions).
const localNames = new Set(
  'alt arpa corp domain example home internal intranet invalid lan local localdomain localhost mail onion private test'.split(' ')
)
// A name for the public DNS: two labels or more, separated by single dots. The WHATWG parser has converted it to lowercase ASCII.
const publicName = /^(?=.{4,253}$)[a-z\d_](?:[a-z\d_-]{0,61}[a-z\d_])?(?:\.[a-z\d_](?:[a-z\d_-]{0,61}[a-z\d_])?)+$/

/**
 * Returns the rule that the text of a callback URL breaks, without a DNS lookup, or undefined (rule W5). Characters that parsers correct or interpret
 * differently (spaces, control characters, backslashes) are refused, so that every later parser reads the same host.
 */
export function brokenUrlRule(text: string, { ports, loopback }: UrlAllowance): UrlRule | undefined {
  // oxlint-disable-next-line no-control-regex
  if (typeof text !== 'string' || text.length > maxUrlLength || /[\u0000-\u0020\u007f-\u00a0\\]/.test(text)) return 'urlFormat'
  const url = URL.parse(text)
  if (url === null) return 'urlFormat'
  if (url.protocol !== 'https:' || !/^https:\/\/[^/]/i.test(text)) return 'urlScheme'
  if (authorityOf(text).includes('@')) return 'urlUserinfo'
  if (text.includes('#')) return 'urlFragment'
  const host = bareHost(url.hostname)
  if (loopback && (isLocalhost(host) || isLoopbackAddress(host))) return undefined
  if (!ports.has(url.port || '443')) return 'urlPort'
  if (isIP(host) !== 0) return 'urlAddress'
  const lastLabel = host.slice(host.lastIndexOf('.') + 1)
  return publicName.test(host) && !localNames.has(lastLabel) ? undefined : 'urlName'
}

/** Returns the host of a URL without the brackets of IPv6. */
export function bareHost(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

/** Returns whether a host is `localhost` or a name below it (RFC 6761 §6.3). */
export function isLocalhost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost')
}

// The original text between the scheme and the path: the parser drops empty user names.
function authorityOf(text: string) {
  return /^https:\/\/([^/?#]*)/i.exec(text)?.[1] ?? ''
}
