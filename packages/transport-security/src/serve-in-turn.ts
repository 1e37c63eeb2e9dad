import type { IncomingMessage, ServerResponse } from 'node:http'
import { type HttpServer, inTurn } from '@concordat/plugin-kit/wiring'

type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** Makes a server process the requests of each HTTP/1 connection {@link inTurn}. */
export function serveInTurn(server: HttpServer): void {
  const listeners = server.listeners('request') as Listener[]
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const serve = () => {
      for (const listener of listeners) listener.call(server, request, response)
    }
    if (request.httpVersionMajor === 2) serve()
    else inTurn(response, serve)
  })
}
