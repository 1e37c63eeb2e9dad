import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { AttemptFailure } from './attempt-failure.ts'

/** What is posted. */
export interface Post {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** For everything until the head of the answer is there. */
  readonly timeoutMilliseconds: number
  /** Ends it before its time. */
  readonly signal: AbortSignal | undefined
}

/** The part of an answer that says something. */
export interface AnswerHead {
  readonly statusCode: number
  readonly headers: IncomingHttpHeaders
}

const maximumBodyBytes = 16_384
const bodyPatienceMilliseconds = 1000

/**
 * Posts through a dispatcher of undici. Rejects with an `AttemptFailure` when the time is over, and with what undici says when there is no
 * answer. The body is only read so that the connection can be used again: not much of it, and not for long.
 */
export function exchange(dispatcher: Dispatcher, { url, headers, body, timeoutMilliseconds, signal }: Post): Promise<AnswerHead> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) throw new AttemptFailure('TIMEOUT')
    let controller: Dispatcher.DispatchController | undefined
    let head: AnswerHead | undefined
    let readBytes = 0
    let isOver = false
    let timer = setTimeout(giveUp, timeoutMilliseconds)
    signal?.addEventListener('abort', giveUp)

    function settle(error?: Error) {
      isOver = true
      clearTimeout(timer)
      signal?.removeEventListener('abort', giveUp)
      if (head === undefined) reject(error)
      else resolve(head)
    }

    function giveUp() {
      const late = new AttemptFailure('TIMEOUT')
      settle(late)
      controller?.abort(late)
    }

    const { origin, pathname, search } = new URL(url)
    dispatcher.dispatch(
      { origin, path: `${pathname}${search}`, method: 'POST', headers, body },
      {
        // Connecting may have taken all the time.
        onRequestStart(started) {
          if (isOver) started.abort(new AttemptFailure('TIMEOUT'))
          controller = started
        },
        onResponseStart(_controller, statusCode, fields) {
          if (statusCode < 200) return
          head = { statusCode, headers: fields }
          clearTimeout(timer)
          timer = setTimeout(giveUp, bodyPatienceMilliseconds)
        },
        onResponseData(_controller, chunk) {
          readBytes += chunk.length
          if (readBytes > maximumBodyBytes) giveUp()
        },
        onResponseEnd: () => settle(),
        onResponseError: (_controller, error) => settle(error)
      }
    )
  })
}
