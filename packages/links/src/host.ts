/** Returns the host of a request in normalized form, or undefined when it is not in the list. */
export type HostMatcher = (host: string, protocol: string) => string | undefined

/**
 * Creates a function that looks up a host in a list. Letter case and the default port of the protocol are ignored
 * (RFC 9110 §4.2.3). `*.example.com` matches every direct subdomain, as in a certificate, but not `example.com` itself.
 * The returned host is safe in a link. Throws a `TypeError` for an entry that is not a valid host.
 */
export function hostMatcher(hosts: readonly string[]): HostMatcher {
  for (const host of hosts) requireHost(host)
  const all = hosts.map((host) => host.toLowerCase())
  const exact = new Set(all.filter((host) => !host.startsWith('*.')))
  const parents = new Set(all.filter((host) => host.startsWith('*.')).map((host) => host.slice(2)))
  return (host, protocol) => {
    if (exact.has(host)) return host
    const port = protocol === 'https' ? ':443' : ':80'
    const lower = host.toLowerCase()
    const bare = lower.endsWith(port) ? lower.slice(0, -port.length) : lower
    if (exact.has(bare) || exact.has(bare + port)) return bare
    const [, parent = ''] = /^[a-z\d_](?:[a-z\d_-]*[a-z\d_])?\.(.*)/.exec(bare) ?? []
    return parents.has(parent) || parents.has(parent + port) ? bare : undefined
  }
}

function requireHost(host: string) {
  const name = typeof host === 'string' ? host.replace(/^\*\./, '') : ''
  if (!/^[^\s*/?#@\\]+$/.test(name) || !URL.canParse(`http://${name}`))
    throw new TypeError(
      `links: options.allowedHosts contains the invalid host "${host}". Use a host with an optional port, for example "api.example.com" or "*.example.com".`
    )
}
