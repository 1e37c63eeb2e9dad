/** The error of Node's `clientError` event. */
export interface WireError extends Error {
  readonly code?: string
  readonly rawPacket?: Buffer
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
export function requestLineOf(packet: Buffer | undefined): RequestLine {
  const line = packet?.subarray(0, 2100).toString('latin1') ?? ''
  const match = /^([A-Za-z-]{1,24}) (\/\S{0,2048}) HTTP\/\d/.exec(line)
  return { method: match?.[1] ?? 'UNKNOWN', target: match?.[2] ?? '/' }
}

/** The code of the catalogue for bytes that are no HTTP request. */
export function codeOfWireError({ code = '', rawPacket }: WireError, maxUriLength: number): string {
  const line = firstLineOf(rawPacket)
  // llhttp stops at the first letter that no known method has, so the rest of the line is still there to be read.
  if (code === 'HPE_INVALID_METHOD' && /^[A-Za-z][A-Za-z-]{0,40} (\/|\*|https?:)/.test(line)) return 'METHOD_NOT_IMPLEMENTED'
  if (code === 'HPE_HEADER_OVERFLOW' && line.length > maxUriLength && /^[A-Z-]{1,24} \S/.test(line)) return 'URI_TOO_LONG'
  if (code === 'HPE_INVALID_VERSION' && /^\S+ \S+ HTTP\/\d(\.\d)?\r?$/.test(line)) return 'HTTP_VERSION_NOT_SUPPORTED'
  return byParserCode.get(code) ?? 'MALFORMED_REQUEST'
}

function firstLineOf(packet: Buffer | undefined): string {
  if (packet === undefined) return ''
  const end = packet.indexOf('\n')
  return packet.toString('latin1', 0, end === -1 ? packet.length : end)
}
