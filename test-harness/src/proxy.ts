import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

/** A way to a server that can be cut: then it stays open and forwards nothing, as when a cable is pulled. */
export interface Proxy {
  readonly url: string
  cut(): void
  /** Forwards again, including what has arrived meanwhile. */
  heal(): void
  /** Forwards new connections. The earlier ones stay open and silent, as when a machine on the way was replaced. */
  healForNew(): void
}

/** A proxy of the test's own before the server at this address. */
export async function proxyOf(t: Test, target: string): Promise<Proxy> {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    const far = connect({ host: new URL(target).hostname, port: Number(new URL(target).port) })
    for (const [from, to] of [
      [near, far],
      [far, near]
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => to.write(bytes)).on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      if (isCut) from.pause()
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const url = new URL(target)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    cut() {
      isCut = true
      for (const socket of sockets) socket.pause()
    },
    heal() {
      isCut = false
      for (const socket of sockets) socket.resume()
    },
    healForNew() {
      isCut = false
    }
  }
}
