import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttps } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { createServer as createTls, getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls'
import { generate } from 'selfsigned'
import type { Test } from 'tap'

const names = [
  { type: 2 as const, value: 'localhost' },
  { type: 7 as const, ip: '127.0.0.1' }
]
const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
  keyType: 'ec',
  extensions: [{ name: 'subjectAltName', altNames: names }]
})

setDefaultCACertificates([...getCACertificates(), cert])

/** The sender options that allow the receivers of these tests. Their time is long enough for a busy machine. */
export const allowingLoopback = { dangerouslyAllowLoopback: true, attemptTimeoutSeconds: 60 }

/** The key and certificate of these receivers. */
export const identity = { key, cert }

/** Starts an HTTPS receiver. Returns its URL. */
export async function startReceiver(
  t: Test,
  received: (request: IncomingMessage, response: ServerResponse) => unknown,
  shown: { readonly key: string; readonly cert: string } = identity
): Promise<string> {
  return listen(
    t,
    createHttps(shown, (request, response) => void received(request, response))
  )
}

/** Starts a TLS receiver that calls `misbehave` with the connection once the first bytes have arrived. Returns its URL. */
export async function startRawReceiver(t: Test, misbehave: (socket: TLSSocket) => unknown): Promise<string> {
  return listen(
    t,
    createTls(identity, (socket) => {
      socket.on('error', () => {})
      socket.once('data', () => misbehave(socket))
    })
  )
}

async function listen(t: Test, server: Server) {
  const sockets = new Set<{ destroy(): void }>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((closed) => server.close(closed))
  })
  return `https://localhost:${(server.address() as AddressInfo).port}/hooks`
}
