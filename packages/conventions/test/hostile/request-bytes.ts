interface Parts {
  readonly headers?: readonly string[]
  readonly body?: string | Buffer
  readonly version?: string
}

/** The bytes of one HTTP/1.1 request, asking for the connection to end after it. Header lines are sent as they are given. */
export function request(method: string, target: string, { headers = [], body, version = '1.1' }: Parts = {}): Buffer {
  const bytes = body === undefined ? undefined : Buffer.isBuffer(body) ? body : Buffer.from(body)
  const framed = headers.some((line) => /^(content-length|transfer-encoding):/i.test(line))
  const lines = [
    `${method} ${target} HTTP/${version}`,
    'Host: api.example.com',
    ...headers,
    ...(bytes === undefined || framed ? [] : [`Content-Length: ${bytes.length}`]),
    'Connection: close'
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes ?? Buffer.alloc(0)])
}

export function get(target: string, ...headers: string[]): Buffer {
  return request('GET', target, { headers })
}

/** A POST whose body says that it is JSON, whatever it is. */
export function post(target: string, body: string | Buffer, ...headers: string[]): Buffer {
  return request('POST', target, { headers: ['Content-Type: application/json', ...headers], body })
}

/** A POST in the chunked coding, with the chunks as they are given. */
export function postChunked(target: string, chunks: string | Buffer, ...headers: string[]): Buffer {
  return request('POST', target, { headers: ['Content-Type: application/json', 'Transfer-Encoding: chunked', ...headers], body: chunks })
}

/** The one header that every request must have, for those that are written by hand. */
export const host = 'Host: api.example.com\r\n'

/** A GET with header lines as they are given, on a connection that stays open. */
export function rawGet(lines: string): string {
  return `GET /v1/things HTTP/1.1\r\n${host}${lines}\r\n\r\n`
}

/** A JSON POST with framing as it is given, on a connection that stays open. */
export function rawPost(lines: string, body: string): string {
  return `POST /v1/anything HTTP/1.1\r\n${host}Content-Type: application/json\r\n${lines}\r\n\r\n${body}`
}
