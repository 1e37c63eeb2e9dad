import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

// The same as the default for the streams of an HTTP/2 connection.
const maxWaiting = 100

const waiting: unique symbol = Symbol('concordat.waitingRequests')
type Connection = Socket & { [waiting]?: number | undefined }

/**
 * Calls a function when it is the turn of an HTTP/1 request: immediately, unless the client pipelines and an earlier response on the connection is
 * not complete. Node.js would process pipelined requests at the same time. After a response with `Connection: close` the function is never
 * called, because nothing further may be processed (RFC 9112 §9.6). A client with more than 100 requests that wait for their turn is disconnected.
 */
export function inTurn(response: ServerResponse, serve: () => void): void {
  const { socket } = response
  if (socket?.writable) return serve()
  if (socket !== null) return
  const connection: Connection = response.req.socket
  connection[waiting] = (connection[waiting] ?? 0) + 1
  if (connection[waiting] > maxWaiting) connection.destroy()
  // Node.js gives a response the connection when the earlier response is complete, unless that closes the connection.
  response.once('socket', () => {
    connection[waiting] = (connection[waiting] as number) - 1
    serve()
  })
}
