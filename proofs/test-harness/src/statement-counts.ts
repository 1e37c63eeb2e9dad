import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

/** What was sent to a PostgreSQL server. */
export interface StatementCounts {
  /** How often a client has sent something after the server had sent something. */
  trips: number
  /** The statements that the server has completed, with BEGIN and COMMIT. */
  statements: number
}

/** Starts a proxy in front of a PostgreSQL server that counts what passes through it, until the test ends. Returns the counts and the URL of the proxy. */
export async function countStatements(
  t: { readonly teardown: (end: () => unknown) => void },
  url: string
): Promise<{ readonly counts: StatementCounts; readonly url: string }> {
  const { hostname, port } = new URL(url)
  const counts: StatementCounts = { trips: 0, statements: 0 }
  const proxy = createServer((near) => {
    const far = connect(Number(port || 5432), hostname)
    let isOver = true
    let rest = Buffer.alloc(0)
    near.on('data', (bytes) => {
      if (isOver) counts.trips += 1
      isOver = false
      far.write(bytes)
    })
    far.on('data', (bytes) => {
      isOver = true
      rest = Buffer.concat([rest, bytes])
      // A type of one byte, and the length of what follows with its own four.
      while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
        if (rest[0] === 'C'.charCodeAt(0)) counts.statements += 1
        rest = rest.subarray(1 + rest.readInt32BE(1))
      }
      near.write(bytes)
    })
    near.on('close', () => far.destroy()).on('error', () => {})
    far.on('close', () => near.destroy()).on('error', () => {})
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => proxy.close())
  return { counts, url: Object.assign(new URL(url), { port: String((proxy.address() as AddressInfo).port) }).href }
}
