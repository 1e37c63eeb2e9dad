// Makes `localhost` a name with two addresses in the process that imports it, as on most machines. Both are of the loopback network, because
// machines without IPv6 have no second one.
import dns from 'node:dns'

type Callback = (error: null, addresses: readonly dns.LookupAddress[]) => void

/** The addresses of `localhost`. */
export const localhostAddresses = ['127.0.0.1', '127.0.0.2'] as const

const { lookup } = dns
const found = localhostAddresses.map((address) => ({ address, family: 4 }))

dns.lookup = ((name: string, options: dns.LookupOptions, callback: Callback) => {
  if (name === 'localhost' && options.all) callback(null, found)
  else lookup(name, options, callback as never)
}) as never
