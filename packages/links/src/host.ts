/** Tells whether a host that a request names is on a list: the host in its one form, or undefined. */
export type HostMatcher = (host: string, protocol: string) => string | undefined

/**
 * Makes the function that looks a host up in a list. Letter case and the default port of the protocol make no difference
 * (RFC 9110 §4.2.3). `*.example.com` stands for every direct subdomain, as in a certificate, and not for `example.com` itself.
 * What comes back is safe in a link. Throws a `TypeError` for an entry that is more or less than a host.
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
    throw new TypeError(`allowedHosts has "${host}". Give a host, with its port if any, as "api.example.com" or "*.example.com".`)
}
