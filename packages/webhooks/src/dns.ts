import dns from 'node:dns/promises'

/**
 * All addresses of a host that the DNS knows; none when it knows none, or does not answer. It asks the servers of the system, or
 * those of `dns.setServers`.
 */
export async function askDns(host: string): Promise<readonly string[]> {
  // Not by dns.lookup: it takes one of the few threads that files and every other look-up of the process wait for, and a receiver's
  // own name server can keep it waiting.
  const answers = await Promise.allSettled([dns.resolve4(host), dns.resolve6(host)])
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}
