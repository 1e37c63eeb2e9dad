/** The error of the `clientError` event of Node.js. */
export interface WireError {
  readonly code?: string | undefined
  /** The last bytes that the client sent. Well-formed requests can precede the malformed request. */
  readonly rawPacket?: Buffer | undefined
  readonly bytesParsed?: number | undefined
}

/** The request line of a request that the HTTP parser of Node.js rejected. */
export interface RequestLine {
  readonly method: string
  readonly target: string
}

const byParserCode = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 'REQUEST_TIMEOUT'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 'PAYLOAD_TOO_LARGE'],
  ['HPE_HEADER_OVERFLOW', 'HEADERS_TOO_LARGE'],
  ['HPE_PAUSED_H2_UPGRADE', 'HTTP_VERSION_NOT_SUPPORTED']
])

/** Returns whether a response can be sent, because the error concerns the request and not the connection. */
export function canRespond({ code = '' }: WireError): boolean {
  return code.startsWith('HPE_') || code.startsWith('ERR_HTTP_')
}

/** Returns the method and target of the first line, if it is a request line. Unusually long or malformed values get the defaults. */
export function requestLineOf(error: WireError): RequestLine {
  const line = firstLineOf(error)
  const [, method = 'UNKNOWN'] = /^([A-Za-z-]{1,24}) (?:[/*]|.* HTTP\/\d)/.exec(line) ?? []
  const [, target = '/'] = /^\S+ (\/\S{0,2048}) HTTP\/\d/.exec(line) ?? []
  return { method, target }
}

/** Returns the error code for bytes that the HTTP parser of Node.js rejected. */
export function codeOfWireError(error: WireError, maxUriLength: number): string {
  const { code = '' } = error
  const line = firstLineOf(error)
  // llhttp stops at the first letter that does not match a known method, so the rest of the line is still available.
  if (code === 'HPE_INVALID_METHOD' && /^[A-Za-z][A-Za-z-]{0,40} (\/|\*|https?:)/.test(line)) return 'METHOD_NOT_IMPLEMENTED'
  if (code === 'HPE_HEADER_OVERFLOW' && line.length > maxUriLength && /^[A-Z-]{1,24} \S/.test(line)) return 'URI_TOO_LONG'
  if (code === 'HPE_INVALID_VERSION' && /^\S+ \S+ HTTP\/(?!1\.[01]\r?$)\d(\.\d)?\r?$/.test(line)) return 'HTTP_VERSION_NOT_SUPPORTED'
  return byParserCode.get(code) ?? 'MALFORMED_REQUEST'
}

function firstLineOf({ rawPacket, bytesParsed = 0 }: WireError): string {
  if (rawPacket === undefined) return ''
  const endOfEarlier = rawPacket.subarray(0, bytesParsed).lastIndexOf('\r\n\r\n')
  const start = endOfEarlier === -1 ? 0 : endOfEarlier + 4
  const end = rawPacket.indexOf('\n', start)
  return rawPacket.toString('latin1', start, end === -1 ? rawPacket.length : end)
}
