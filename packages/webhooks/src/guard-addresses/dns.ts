import dns from 'node:dns/promises'

/**
 * Returns all addresses of a host in the DNS; an empty list when there are none or the DNS does not respond. It queries the servers of the
 * system, or those of `dns.setServers`.
 */
export async function queryDns(host: string): Promise<readonly string[]> {
  // Not dns.lookup: it occupies one of the few threads that file access and all other lookups of the process share, and a receiver's own
  // name server could block it.
  const results = await Promise.allSettled([dns.resolve4(host), dns.resolve6(host)])
  return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
}
