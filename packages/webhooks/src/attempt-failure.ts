/** Why an attempt got no answer, as its record shows it. Never an address, never a text of the other side. */
export type AttemptFailureCode =
  /** The URL breaks a rule that it did not break when it was registered. */
  | 'URL_REFUSED'
  /** The host leads to an address that is not public. */
  | 'ADDRESS_REFUSED'
  | 'HOST_NOT_FOUND'
  | 'CONNECTION_FAILED'
  /** The certificate is not trusted, or there is no TLS on the other side. */
  | 'TLS_FAILED'
  | 'TIMEOUT'
  /** What came back is no HTTP, or has headers over 16 KiB. */
  | 'RESPONSE_INVALID'

/** An attempt that got no answer. */
export class AttemptFailure extends Error {
  readonly code: AttemptFailureCode

  constructor(code: AttemptFailureCode, cause?: unknown) {
    super(`The attempt failed: ${code}.`, cause === undefined ? undefined : { cause })
    this.name = 'AttemptFailure'
    this.code = code
  }
}

/** The code for whatever an attempt rejected with. */
export function failureCodeOf(error: unknown): AttemptFailureCode {
  if (error instanceof AttemptFailure) return error.code
  const { name = '', code = '' } = error as { readonly name?: string; readonly code?: unknown }
  if (name === 'TimeoutError' || /TIMEOUT/.test(String(code))) return 'TIMEOUT'
  return name === 'HTTPParserError' || invalid.has(String(code)) ? 'RESPONSE_INVALID' : 'CONNECTION_FAILED'
}

const invalid = new Set(['UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'UND_ERR_INVALID_ARG'])
