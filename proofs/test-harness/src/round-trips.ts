import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { connect as connectTls, createServer as createTlsServer, type TlsOptions } from 'node:tls'
import type { Test } from 'tap'
import type { WireProtocol, WireResponse } from './wire-protocols.ts'

/** A request that passed through a proxy, and its response. */
export interface RoundTrip {
  readonly server: string
  readonly label: string
  /** The number of rows in the response, as far as it has arrived. */
  readonly rows: number
  /** The number of statements that the server has completed for it. */
  readonly statements: number
}

/** What happens to a round trip: its bytes are forwarded, or the connection is cut without forwarding them. */
export type Passage = 'forward' | 'cut'

/** Decides about each round trip. A promise delays it, and everything after it on the same connection. */
export interface Interceptor {
  /** Called with a complete request, which the server has not received. */
  request(trip: RoundTrip): Passage | Promise<Passage>
  /** Called when the server has sent its complete response, which the client has not received. */
  response(trip: RoundTrip): Passage | Promise<Passage>
}

/** Server behind a proxy. */
export interface ProxiedServer {
  /** The name of the server in its round trips. */
  readonly name: string
  readonly host: string
  readonly port: number
  readonly protocol: WireProtocol
  /** Certificate and key with which the proxy terminates TLS. Its own connections to the server accept any certificate. */
  readonly tls?: Pick<TlsOptions, 'key' | 'cert'>
}

/**
 * Starts a TCP proxy that forwards whole requests and whole responses, each when the interceptor has decided, for the duration of the test.
 * A request is forwarded even if its client has closed the connection meanwhile, as a network would. Returns the port.
 */
export async function proxyRoundTrips(
  t: Test,
  { name, host, port, protocol, tls }: ProxiedServer,
  interceptor: Interceptor
): Promise<number> {
  const sockets = new Set<Socket>()
  const server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port

  function serve(near: Socket) {
    const far = tls === undefined ? connect(port, host) : connectTls({ port, host, rejectUnauthorized: false })
    const pending: { -readonly [Member in keyof RoundTrip]: RoundTrip[Member] }[] = []
    const split = { requests: protocol.requests(), responses: protocol.responses() }
    let held: Buffer[] = []
    const cut = () => {
      near.destroy()
      far.destroy()
    }
    const [toServer, toClient] = [inOrder(cut), inOrder(cut)]

    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    near.on('data', (bytes) => {
      for (const { bytes: request, label, hasResponse } of split.requests(bytes))
        toServer(async () => {
          const trip = { server: name, label, rows: 0, statements: 0 }
          if (hasResponse) {
            if ((await interceptor.request(trip)) === 'cut') return cut()
            pending.push(trip)
          }
          if (far.writable) far.write(request)
        })
    })
    near.on('end', () => toServer(async () => void far.end()))
    near.on('close', () => toServer(async () => void far.end()))
    far.on('data', (bytes) => {
      for (const part of split.responses(bytes)) toClient(() => receive(part))
    })
    far.on('end', () => toClient(async () => void near.end(Buffer.concat(held))))
    far.on('close', () => toClient(() => near.destroySoon()))

    async function receive({ bytes, rows, statements, place }: WireResponse) {
      const [trip] = pending
      if (place === 'apart' || trip === undefined) return send(bytes)
      held.push(bytes)
      trip.rows += rows
      trip.statements += statements
      if (place === 'part') return
      if ((await interceptor.response(trip)) === 'cut') return cut()
      pending.shift()
      send(Buffer.concat(held))
      held = []
    }

    function send(bytes: Buffer) {
      if (near.writable) near.write(bytes)
    }
  }
}

/** Returns a function that runs steps one after another. A step that fails cuts the connection. */
function inOrder(cut: () => void) {
  let last = Promise.resolve()
  return (step: () => void | Promise<void>) => {
    last = last.then(step).catch(cut)
  }
}
