import { once } from 'node:events'
import { connect } from 'node:net'

/** A response as it arrived. Header names are in lowercase. */
export interface RawResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Sends bytes to a service over a new connection and returns the response. Unlike `fetch`, it does not normalize or refuse anything. The
 * bytes must be one request, with `Connection: close` unless the service closes the connection anyway.
 */
export async function sendBytes(service: string, bytes: string): Promise<RawResponse> {
  const { hostname, port } = new URL(service)
  const socket = connect(Number(port), hostname)
  let received = ''
  socket.setEncoding('latin1')
  socket.on('data', (data) => (received += String(data)))
  socket.write(bytes, 'latin1')
  await once(socket, 'close')
  const [head = '', ...rest] = received.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.replace(/^[^:]*: ?/, '')])),
    body: rest.join('\r\n\r\n')
  }
}

/** Returns the error code in a response, or undefined if it is not an error in the envelope. */
export function codeIn({ body }: RawResponse): string | undefined {
  return /"code":"([A-Z\d_]+)"/.exec(body)?.[1]
}
