import { BlockList, isIP } from 'node:net'

// What the IANA registries of special-purpose addresses and of multicast name within IPv4.
const special4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8',
  '169.254.0.0/16', // link-local, where clouds keep their metadata
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

// Of IPv6 only this part is handed out to the public. Outside it lie loopback, private, link-local and multicast addresses, and every form
// that carries an IPv4 address as ::a.b.c.d, ::ffff:a.b.c.d and 64:ff9b::a.b.c.d do.
const globalUnicast6 = '2000::/3'

const special6 = [
  '2001::/23', // protocol assignments: Teredo, ORCHID, benchmarks and others
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which carries an IPv4 address
  '2620:4f:8000::/48', // AS112
  '3fff::/20' // documentation
]

const special = listOf([...special4, ...special6])
const globalUnicast = listOf([globalUnicast6])
const loopback = listOf(['127.0.0.0/8', '::1/128'])

/**
 * Whether an IP address belongs to the public internet: not in any special-purpose range of the IANA registries (RFC 6890), not
 * multicast, and no IPv6 form that carries an IPv4 address. What is no address, or has a zone, is not public.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !special.check(address, 'ipv4')
  return isPlain6(address) && globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/** Whether an IP address is this machine itself, as 127.0.0.1 and ::1 are; not in a form that maps one into the other. */
export function isLoopbackAddress(address: string): boolean {
  if (isIP(address) === 4) return loopback.check(address, 'ipv4')
  return address === '::1'
}

function isPlain6(address: string) {
  return isIP(address) === 6 && !address.includes('%')
}

function listOf(ranges: readonly string[]) {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', bits] = range.split('/')
    list.addSubnet(network, Number(bits), network.includes(':') ? 'ipv6' : 'ipv4')
  }
  return list
}
