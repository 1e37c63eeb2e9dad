/**
 * The reason why an attempt got no response: never an address and never a text from the receiver. A host that does not exist has the same code as one
 * that is not public: otherwise an attempt would tell which names exist in the network of the service.
 */
export type AttemptFailureCode = 'URL_REFUSED' | 'NO_PUBLIC_ADDRESS' | 'CONNECTION_FAILED' | 'TLS_FAILED' | 'TIMEOUT' | 'RESPONSE_INVALID'

/** Error that is thrown when an attempt gets no valid response. */
export class AttemptFailure extends Error {
  readonly code: AttemptFailureCode

  constructor(code: AttemptFailureCode, cause?: unknown) {
    super(`The attempt failed: ${code}.`, { cause })
    this.name = 'AttemptFailure'
    this.code = code
  }
}
