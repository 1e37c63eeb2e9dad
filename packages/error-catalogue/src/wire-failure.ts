import type { Catalogue, CatalogueEntry } from './catalogue.ts'

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

const byParserCode: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'PAYLOAD_TOO_LARGE',
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE'
}

/** Reads method and target from the first line, where it is one; longer or odder ones are not worth a link. */
export function requestLineOf(packet: Buffer | undefined): RequestLine {
  const line = packet?.subarray(0, 2100).toString('latin1') ?? ''
  const match = /^([A-Za-z-]{1,24}) (\/\S{0,2048}) HTTP\/\d/.exec(line)
  return { method: match?.[1] ?? 'UNKNOWN', target: match?.[2] ?? '/' }
}

/** The catalogue entry for bytes that are no HTTP request. */
export function entryOfWireError({ code = '', rawPacket }: WireError, catalogue: Catalogue): CatalogueEntry {
  const start = rawPacket?.subarray(0, 64).toString('latin1') ?? ''
  const named = catalogue.find(codeOf(code, start, rawPacket))
  return named ?? catalogue.ofStatus(400)
}

function codeOf(code: string, start: string, packet: Buffer | undefined): string {
  // llhttp stops at the first letter that no known method has, so the rest of the line is still there to be read.
  if (code === 'HPE_INVALID_METHOD' && /^[A-Za-z][A-Za-z-]{0,40} (\/|\*|https?:)/.test(start)) return 'METHOD_NOT_IMPLEMENTED'
  if (code === 'HPE_HEADER_OVERFLOW' && packet !== undefined && /^[A-Z-]{1,24} \S/.test(start) && !packet.includes('\n'))
    return 'URI_TOO_LONG'
  if (code === 'HPE_INVALID_VERSION' && packet !== undefined && /^\S+ \S+ HTTP\/\d(\.\d)?\r?\n/.test(packet.toString('latin1', 0, 4096))) {
    return 'HTTP_VERSION_NOT_SUPPORTED'
  }
  return byParserCode[code] ?? 'MALFORMED_REQUEST'
}
