interface Parts {
  readonly headers?: readonly string[]
  readonly body?: string | Buffer
  readonly version?: string
}

/** Returns the bytes of an HTTP/1.1 request with Connection: close. Header lines are sent unchanged. */
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

/** Returns a POST whose Content-Type is JSON, with any body. */
export function post(target: string, body: string | Buffer, ...headers: string[]): Buffer {
  return request('POST', target, { headers: ['Content-Type: application/json', ...headers], body })
}

/** Returns a POST in the chunked coding, with the chunks unchanged. */
export function postChunked(target: string, chunks: string | Buffer, ...headers: string[]): Buffer {
  return request('POST', target, { headers: ['Content-Type: application/json', 'Transfer-Encoding: chunked', ...headers], body: chunks })
}

/** The header that every request must have, for hand-written requests. */
export const host = 'Host: api.example.com\r\n'

/** Returns a GET with unchanged header lines, on a connection that stays open. */
export function rawGet(lines: string): string {
  return `GET /v1/things HTTP/1.1\r\n${host}${lines}\r\n\r\n`
}

/** Returns a JSON POST with unchanged framing, on a connection that stays open. */
export function rawPost(lines: string, body: string): string {
  return `POST /v1/anything HTTP/1.1\r\n${host}Content-Type: application/json\r\n${lines}\r\n\r\n${body}`
}
