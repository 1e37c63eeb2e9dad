/** The reason why an attempt got no response, as the attempt's record shows it. Never an address and never a text from the receiver. */
export type AttemptFailureCode =
  /** The URL is no longer allowed, although it was allowed when it was registered. */
  | 'URL_REFUSED'
  /**
   * The host does not exist, or an address of it is not public. One code for both: otherwise an attempt would tell which names exist in the
   * network of the service.
   */
  | 'NO_PUBLIC_ADDRESS'
  | 'CONNECTION_FAILED'
  /** The certificate is not trusted, or the receiver does not use TLS. */
  | 'TLS_FAILED'
  | 'TIMEOUT'
  /** The response is not HTTP, or its headers are larger than 16 KiB. */
  | 'RESPONSE_INVALID'

/** Error that is thrown when an attempt gets no valid response. */
export class AttemptFailure extends Error {
  readonly code: AttemptFailureCode

  constructor(code: AttemptFailureCode, cause?: unknown) {
    super(`The attempt failed: ${code}.`, cause === undefined ? undefined : { cause })
    this.name = 'AttemptFailure'
    this.code = code
  }
}
