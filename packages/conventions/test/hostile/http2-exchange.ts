import { connect, type IncomingHttpHeaders } from 'node:http2'
import type { Http2Case } from './case.ts'
import type { Received } from './response.ts'

const defaults = { ':method': 'GET', ':path': '/v1/things', ':authority': 'api.example.com', ':scheme': 'https' }

/** Sends a request over its own connection. Never rejects: a stream that the server resets returns no response. */
export async function exchangeHttp2(port: number, { headers, body }: Pick<Http2Case, 'headers' | 'body'>): Promise<Received> {
  const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  const interim: number[] = []
  const chunks: Buffer[] = []
  let responded: IncomingHttpHeaders | undefined
  let closed = false
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, 5000)
    const done = () => {
      clearTimeout(timer)
      resolve()
    }
    session.on('error', done)
    session.on('goaway', () => (closed = true))
    try {
      const stream = session.request({ ...defaults, ...headers }, { endStream: body === undefined })
      stream.on('headers', (early) => interim.push(Number(early[':status'])))
      stream.on('response', (found) => (responded = found))
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('error', done)
      stream.on('close', done)
      if (body !== undefined) stream.end(body)
    } catch {
      done()
    }
  })
  session.destroy()
  const content = Buffer.concat(chunks)
  if (responded === undefined) return { bytes: content, responses: [], interim, flaw: undefined, closed }
  const fields = Object.entries(responded).filter(([name]) => !name.startsWith(':'))
  const found = fields.flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)] as const))
  const head = Buffer.from(found.map(([name, value]) => `${name}: ${value}\r\n`).join(''), 'latin1')
  return {
    bytes: Buffer.concat([head, Buffer.from('\r\n'), content]),
    responses: [{ protocol: 'HTTP/2', status: Number(responded[':status']), headers: found, body: content }],
    interim,
    flaw: undefined,
    closed
  }
}
