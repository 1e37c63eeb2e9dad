// A TCP proxy between a process of the service and PostgreSQL, whose connections can be reset or be silent.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Wire {
  readonly url: string
  /** Resets every connection, as a firewall that forgot them. */
  reset(): void
  /** Forwards nothing until `heal`, and closes nothing, as an unplugged cable. */
  cut(): void
  heal(): void
  close(): void
}

export async function wireTo(target: string): Promise<Wire> {
  const sockets = new Set<Socket>()
  let isCut = false
  const { hostname, port } = new URL(target)
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near]
    ] as const) {
      sockets.add(from)
      if (isCut) from.pause()
      from.on('data', (bytes) => to.write(bytes)).on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = new URL(target)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    reset() {
      for (const socket of sockets) socket.resetAndDestroy()
    },
    cut() {
      isCut = true
      for (const socket of sockets) socket.pause()
    },
    heal() {
      isCut = false
      for (const socket of sockets) socket.resume()
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }
}
