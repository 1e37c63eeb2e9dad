import type { Input } from './request.ts'
import type { Answer } from './response.ts'

/** A request to send. */
export interface Sending {
  readonly method: string
  /** The path of the operation, as the description has it. */
  readonly path: string
  readonly input: Input
  /** Path and query, where they are those of a link. */
  readonly target?: string | undefined
  /** The operation can be sent twice, although its method does not say so. */
  readonly isRepeatable?: boolean | undefined
  /** The response is returned unread. */
  readonly isRaw?: boolean | undefined
}

/** Sends requests of one client. */
export type Send = (sending: Sending) => Promise<Answer>
