import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'

type Middleware = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void

/** The headers, by name in lower case, that a middleware of helmet writes: asked once, of a response that goes nowhere. */
export function headersWrittenBy(write: Middleware): (readonly [name: string, value: string])[] {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  write(response.req, response, (error) => {
    if (error !== undefined) throw error
  })
  return Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)] as const)
}
