import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttps } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { createServer as createTls, type TLSSocket } from 'node:tls'
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

/** What the sender has to be told to reach the receivers of these tests, and nothing else. */
export const trustingLoopback = {
  certificateAuthorities: [cert],
  dangerouslyAllowLoopback: true,
  // For machines that have a lot else to do.
  connectTimeoutSeconds: 30,
  attemptTimeoutSeconds: 60
}

/** The key and certificate of these receivers. */
export const identity = { key, cert }

/** A receiver over TLS that answers as HTTP does. Answers its URL. */
export async function startReceiver(t: Test, answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<string> {
  return listen(
    t,
    createHttps(identity, (request, response) => void answer(request, response))
  )
}

/** A receiver over TLS that does as it likes with the connection, once the request has begun to come. Answers its URL. */
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
