import { createSocket } from 'node:dgram'
import dns from 'node:dns/promises'
import { once } from 'node:events'
import type { Test } from 'tap'

/** Starts a local DNS server that the process queries until the test ends. `known` has IPv4 addresses by host. */
export async function startNameServer(t: Test, known: Readonly<Record<string, readonly string[]>>): Promise<void> {
  const server = createSocket('udp4')
  server.on('message', (query, { port, address }) => {
    const { host, end } = questionOf(query)
    const isA = query.readUInt16BE(end) === 1
    const responses = isA ? (known[host] ?? []) : []
    const head = Buffer.from(query.subarray(0, end + 4))
    head.writeUInt16BE(0x8180 | (host in known ? 0 : 3), 2)
    head.writeUInt16BE(responses.length, 6)
    head.fill(0, 8, 12)
    server.send(Buffer.concat([head, ...responses.map(recordOf)]), port, address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  const before = dns.getServers()
  dns.setServers([`127.0.0.1:${server.address().port}`])
  t.teardown(() => {
    dns.setServers(before)
    server.close()
  })
}

function questionOf(query: Buffer) {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { host: labels.join('.').toLowerCase(), end: at + 1 }
}

// A pointer to the name in the question, type A, class IN, TTL 0, four bytes.
function recordOf(address: string) {
  return Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)])
}
