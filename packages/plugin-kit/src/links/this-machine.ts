import type { IncomingHttpHeaders } from 'node:http'
import { isIPv4 } from 'node:net'
import { authorityOf } from './host.ts'

/** The parts of a Fastify request that show where it comes from. `raw` is the request of Node.js. */
export interface MachineRequest {
  readonly socket?: { readonly remoteAddress?: string | undefined } | undefined
  readonly raw: { readonly headers: IncomingHttpHeaders; readonly url?: string | undefined }
}

// Names that proxies, tunnels and content delivery networks add, and clients do not. A client does send Proxy-Authorization.
const names =
  'forwarded|via|cdn-loop|client-ip|true-client-ip|front-end-https|x-(?:client-ip|host|scheme|url-scheme|varnish|rewrite-url|request-start|amzn-trace-id|cloud-trace-context)'
const families =
  'proxy(?!-authorization$)|wl-proxy|cf|fastly|fly|akamai|incap|ngrok|tailscale|x-(?:forwarded|real|cluster|original|remote|proxy|proxyuser|envoy|azure|arr|appengine|amz-cf|nf|vercel|sucuri)'
const ofProxies = new RegExp(`^(?:(?:${names})$|(?:${families})(?:-|$))`)

const marked = new WeakSet<object>()

/**
 * Returns whether a request is from a client on this machine, which alone has the privileges of development: plain HTTP, the users of development, the
 * reference page, metrics and the names of stores. The connection must come from a loopback address, no header may be from a proxy, trusted or not, and
 * every host that the request names must be one of this machine: by default a loopback name ({@link isLoopbackHost}), so that a page of another site cannot
 * send the request under its own name. A gateway is never this machine. A proxy on this machine that passes neither headers nor the host is not recognized.
 */
export function isFromThisMachine({ socket, raw }: MachineRequest, isOwnHost: (host: string) => boolean = isLoopbackHost): boolean {
  if (!isLoopbackAddress(socket?.remoteAddress) || isForwarded(raw)) return false
  const authority = authorityOf(raw.url)
  const { host = authority, ':authority': ofHttp2 } = raw.headers
  if (host === undefined && ofHttp2 === undefined) return false
  if (authority !== undefined && authority !== host && !isOwnHost(authority)) return false
  return (host === undefined || isOwnHost(host)) && (ofHttp2 === undefined || isOwnHost(ofHttp2.toString()))
}

/** Returns whether a proxy passed a request on: by a header such as `Forwarded` (RFC 7239), `Via`, `X-Forwarded-For` or `X-Real-IP`, or by {@link markForwarded}. */
export function isForwarded(raw: MachineRequest['raw']): boolean {
  for (const name in raw.headers) if (ofProxies.test(name)) return true
  return marked.has(raw)
}

/** Marks a request of Node.js as passed on, also without such a header: from a gateway, or a part of a request that was passed on. */
export function markForwarded(raw: object): void {
  marked.add(raw)
}

/** Returns whether an address is one of this machine: 127.0.0.0/8, also where it is mapped to IPv6, or ::1. */
export function isLoopbackAddress(address: string | undefined): boolean {
  return address === '127.0.0.1' || (address !== undefined && /^(?:::1|(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/.test(address))
}

/**
 * Returns whether a host, with any port, is a name of this machine that no DNS server can change: `localhost`, `*.localhost` (RFC 6761 §6.3), an address of
 * 127.0.0.0/8 in four decimal numbers, or `[::1]`. Every other spelling is none, because clients send these.
 */
export function isLoopbackHost(host: string): boolean {
  const [, name = ''] = /^(.*?)(?::\d*)?$/s.exec(host) ?? []
  return name === '[::1]' || (isIPv4(name) && name.startsWith('127.')) || /^(?:[a-z\d_-]+\.)*localhost$/i.test(name)
}
