import { BlockList, isIP } from 'node:net'

// The IPv4 ranges in the IANA registries of special-purpose addresses and of multicast addresses.
const special4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8',
  '168.63.129.16/32', // the platform service of Azure, at a public address
  '169.254.0.0/16', // link-local, which includes the metadata services of cloud providers
  '172.16.0.0/12',
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // multicast tunnels (AMT)
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16',
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4' // reserved, broadcast
]

const special6 = [
  '2001::/23', // protocol assignments: Teredo, ORCHID, benchmarks and others
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which embeds an IPv4 address
  '2620:4f:8000::/48', // AS112
  '3fff::/20' // documentation
]

const special = listOf([...special4, ...special6])
// The only part of IPv6 that is allocated for public use. Loopback, private, link-local and multicast addresses are outside it, and so is
// every form that embeds an IPv4 address, for example ::a.b.c.d, ::ffff:a.b.c.d and 64:ff9b::a.b.c.d.
const globalUnicast = listOf(['2000::/3'])
const loopback4 = listOf(['127.0.0.0/8'])

/**
 * Returns whether an IP address belongs to the public internet: it is not in a special-purpose range of the IANA registries (RFC 6890), not
 * a multicast address, and not an IPv6 form that embeds an IPv4 address. Text that is not an address, or has a zone, is not public.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !special.check(address, 'ipv4')
  return isIP(address) === 6 && !address.includes('%') && globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/** Returns whether an IP address is a loopback address, for example 127.0.0.1 or ::1. An IPv4 address mapped into IPv6 is not accepted. */
export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || (isIP(address) === 4 && loopback4.check(address, 'ipv4'))
}

function listOf(ranges: readonly string[]) {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', bits] = range.split('/')
    list.addSubnet(network, Number(bits), network.includes(':') ? 'ipv6' : 'ipv4')
  }
  return list
}
