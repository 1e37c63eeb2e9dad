import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

/** TCP proxy that can be cut: its connections then stay open and forward nothing, as with an unplugged cable. */
export interface Proxy {
  readonly url: string
  cut(): void
  /** Forwards requests to the server, and loses its responses. */
  cutResponses(): void
  /** Forwards again, including data that arrived in the meantime. */
  heal(): void
  /** Forwards new connections. Earlier connections stay open and silent, as when a machine on the path was replaced. */
  healForNew(): void
}

/** Starts a proxy in front of the server at this URL, for the duration of the test. */
export async function proxyOf(t: Test, target: string): Promise<Proxy> {
  const sockets = new Set<Socket>()
  const servers = new WeakSet<Socket>()
  let isCut = false
  const server = createServer((near) => {
    const far = connect({ host: new URL(target).hostname, port: Number(new URL(target).port) })
    servers.add(far)
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
    cutResponses() {
      for (const socket of sockets) if (servers.has(socket)) socket.pause()
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
