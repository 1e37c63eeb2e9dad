/** The error of Node's `clientError` event. */
export interface WireError {
  readonly code?: string
  /** The last bytes that arrived; other requests, well-formed ones, may stand before the bad one. */
  readonly rawPacket?: Buffer
  readonly bytesParsed?: number
}

/** What can be read from bytes that Node's parser refused. */
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

/** Tells whether the error says something about bytes that a client sent, and not about the connection. */
export function isAnswerable({ code = '' }: WireError): boolean {
  return code.startsWith('HPE_') || code.startsWith('ERR_HTTP_')
}

/** Reads method and target from the first line, where it is one; longer or odder ones are not worth a link. */
export function requestLineOf(error: WireError): RequestLine {
  const line = firstLineOf(error)
  const [, method = 'UNKNOWN'] = /^([A-Za-z-]{1,24}) (?:[/*]|.* HTTP\/\d)/.exec(line) ?? []
  const [, target = '/'] = /^\S+ (\/\S{0,2048}) HTTP\/\d/.exec(line) ?? []
  return { method, target }
}

/** The code of the catalogue for bytes that are no HTTP request. */
export function codeOfWireError(error: WireError, maxUriLength: number): string {
  const { code = '' } = error
  const line = firstLineOf(error)
  // llhttp stops at the first letter that no known method has, so the rest of the line is still there to be read.
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
