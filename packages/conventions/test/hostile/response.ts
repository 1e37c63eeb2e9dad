/** A response, as it was received. Header names are lower case; their order and repetitions are preserved. */
export interface ReceivedResponse {
  readonly protocol: 'HTTP/1.1' | 'HTTP/2'
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
}

/** Everything received on a connection: final responses in order, interim responses (1xx) by status, and the remaining bytes. */
export interface Received {
  readonly bytes: Buffer
  readonly responses: readonly ReceivedResponse[]
  readonly interim: readonly number[]
  /** Why the bytes are not a sequence of HTTP responses, if they are not. */
  readonly flaw: string | undefined
  /** The server ended or reset the connection before the client timed out. */
  readonly closed: boolean
}

export function headerOf(response: ReceivedResponse, name: string): string | undefined {
  return response.headers.find(([found]) => found === name)?.[1]
}

interface Parsed {
  readonly responses: ReceivedResponse[]
  readonly interim: number[]
  readonly flaw: string | undefined
}

/**
 * Parses HTTP/1.1 responses as a strict client does: anything that two clients could parse differently is a flaw.
 * `methods` are those of the requests sent on the connection, in order, because a response to HEAD has no body.
 */
export function parseResponses(bytes: Buffer, methods: readonly string[]): Parsed {
  const responses: ReceivedResponse[] = []
  const interim: number[] = []
  let at = 0
  while (at < bytes.length) {
    const end = bytes.indexOf('\r\n\r\n', at)
    if (end === -1) return { responses, interim, flaw: 'a head without an end' }
    const [statusLine = '', ...lines] = bytes.toString('latin1', at, end).split('\r\n')
    const match = /^HTTP\/1\.1 ([1-5]\d\d) [\x20-\x7e]+$/.exec(statusLine)
    if (match === null) return { responses, interim, flaw: `the status line "${statusLine.slice(0, 80)}"` }
    const status = Number(match[1])
    const headers: [string, string][] = []
    for (const line of lines) {
      const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([\x20-\x7e\x80-\xff]*)$/.exec(line) ?? []
      if (name === undefined || value === undefined) return { responses, interim, flaw: `the header line "${line.slice(0, 80)}"` }
      headers.push([name.toLowerCase(), value])
    }
    at = end + 4
    if (status < 200) {
      interim.push(status)
      continue
    }
    const bodiless = methods[responses.length] === 'HEAD' || status === 204 || status === 304
    const body = bodiless ? { bytes: Buffer.alloc(0), end: at } : readBody(bytes, at, headers)
    if (typeof body === 'string') return { responses, interim, flaw: body }
    responses.push({ protocol: 'HTTP/1.1', status, headers, body: body.bytes })
    at = body.end
  }
  return { responses, interim, flaw: undefined }
}

function readBody(bytes: Buffer, start: number, headers: readonly [string, string][]): { bytes: Buffer; end: number } | string {
  const lengths = headers.filter(([name]) => name === 'content-length')
  const chunked = headers.some(([name, value]) => name === 'transfer-encoding' && value.toLowerCase() === 'chunked')
  if (chunked && lengths.length > 0) return 'both Content-Length and Transfer-Encoding'
  if (chunked) return readChunks(bytes, start)
  const [, length = ''] = lengths[0] ?? []
  if (lengths.length !== 1 || !/^\d+$/.test(length)) return `the lengths [${lengths.map(([, value]) => value).join()}] of a body`
  const end = start + Number(length)
  if (end > bytes.length) return `a body cut short at ${bytes.length - start} of ${length} bytes`
  return { bytes: bytes.subarray(start, end), end }
}

function readChunks(bytes: Buffer, start: number): { bytes: Buffer; end: number } | string {
  const chunks: Buffer[] = []
  let at = start
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    const size = lineEnd === -1 ? '' : bytes.toString('latin1', at, lineEnd)
    if (!/^[0-9a-f]+$/i.test(size)) return 'a chunked body cut short'
    const end = lineEnd + 2 + Number.parseInt(size, 16)
    if (size === '0') {
      const done = bytes.toString('latin1', end, end + 2) === '\r\n'
      return done ? { bytes: Buffer.concat(chunks), end: end + 2 } : 'a chunked body without an end'
    }
    if (end + 2 > bytes.length) return 'a chunk cut short'
    chunks.push(bytes.subarray(lineEnd + 2, end))
    at = end + 2
  }
}
