import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Opens a connection to the service and sends the bytes. */
export function send(app: FastifyInstance, bytes: string): Socket {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(bytes)
  return socket
}

/** Returns everything that the service sent until it closed the connection. */
export async function responseOf(socket: Socket): Promise<string> {
  let response = ''
  socket.on('data', (bytes) => (response += String(bytes)))
  await once(socket, 'close')
  return response
}
