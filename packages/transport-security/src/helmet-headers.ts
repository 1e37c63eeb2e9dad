import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'

type Middleware = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void

/** Returns the headers that a middleware of helmet writes, with names in lower case. It runs once, on a response that is never sent. */
export function headersWrittenBy(write: Middleware): (readonly [name: string, value: string])[] {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  write(response.req, response, (error) => {
    if (error !== undefined) throw error
  })
  return Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)] as const)
}
