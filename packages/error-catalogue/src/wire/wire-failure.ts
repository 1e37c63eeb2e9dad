import type { IncomingHttpHeaders } from 'node:http'
import { maxUriLength } from './request-form.ts'

/** The error of the `clientError` event of Node.js. */
export interface WireError {
  readonly code?: string | undefined
  /** The last bytes that the client sent, with requests before the malformed one. */
  readonly rawPacket?: Buffer | undefined
  readonly bytesParsed?: number | undefined
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
export function requestLineOf(error: WireError): { readonly method: string; readonly target: string } {
  const line = firstLineOf(error)
  const [, method = 'UNKNOWN'] = /^([A-Za-z-]{1,24}) (?:[/*]|.* HTTP\/\d)/.exec(line) ?? []
  const [, target = '/'] = /^\S+ (\/\S{0,2048}) HTTP\/\d/.exec(line) ?? []
  return { method, target }
}

/** Returns the error code for bytes that the HTTP parser of Node.js rejected. */
export function codeOfWireError(error: WireError): string {
  const { code = '' } = error
  const line = firstLineOf(error)
  // llhttp stops at the first letter that does not match a known method, so the rest of the line is still available.
  if (code === 'HPE_INVALID_METHOD' && /^[A-Za-z][A-Za-z-]{0,40} (\/|\*|https?:)/.test(line)) return 'METHOD_NOT_IMPLEMENTED'
  if (code === 'HPE_HEADER_OVERFLOW' && line.length > maxUriLength && /^[A-Z-]{1,24} \S/.test(line)) return 'URI_TOO_LONG'
  if (code === 'HPE_INVALID_VERSION' && /^\S+ \S+ HTTP\/(?!1\.[01]\r?$)\d(\.\d)?\r?$/.test(line)) return 'HTTP_VERSION_NOT_SUPPORTED'
  return byParserCode.get(code) ?? 'MALFORMED_REQUEST'
}

/** Returns the headers that can be read: the complete lines in the last bytes that the client sent. Of a repeated header, it returns the first. */
export function headersOf(error: WireError): IncomingHttpHeaders {
  const lines = requestIn(error).split('\r\n')
  // An empty line ends the head. Without one, the last line may be incomplete.
  const fields = lines.slice(1, lines.indexOf('')).flatMap((line) => {
    const colon = line.indexOf(':')
    return colon === -1 ? [] : [[line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const]
  })
  return Object.fromEntries(fields.toReversed())
}

function firstLineOf(error: WireError): string {
  return requestIn(error).split('\n', 1)[0] as string
}

// From the start of the rejected request, which well-formed requests can precede.
function requestIn({ rawPacket, bytesParsed = 0 }: WireError): string {
  if (rawPacket === undefined) return ''
  const endOfEarlier = rawPacket.subarray(0, bytesParsed).lastIndexOf('\r\n\r\n')
  return rawPacket.toString('latin1', endOfEarlier === -1 ? 0 : endOfEarlier + 4)
}
