import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { AttemptFailure } from '../guard-addresses/attempt-failure.ts'

interface Post {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** The time limit until the head of the response has arrived. */
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

type ResponseHead = { readonly statusCode: number; readonly headers: IncomingHttpHeaders }

const maxBodyBytes = 16_384
const bodyPatienceMs = 1000

/**
 * Sends a POST request with an undici dispatcher. Rejects with an `AttemptFailure` on timeout, and with the error of undici when there is
 * no response. The body is read only so that the connection can be reused: at most 16 KiB of it, for at most one second.
 */
export function exchange(dispatcher: Dispatcher, { url, headers, body, timeoutMs, signal }: Post): Promise<ResponseHead> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) throw new AttemptFailure('TIMEOUT')
    let controller: Dispatcher.DispatchController | undefined
    let head: ResponseHead | undefined
    let readBytes = 0
    let isOver = false
    let timer = setTimeout(giveUp, timeoutMs)
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
        // The connection may have taken the whole time limit.
        onRequestStart(started) {
          if (isOver) started.abort(new AttemptFailure('TIMEOUT'))
          controller = started
        },
        onResponseStart(_controller, statusCode, fields) {
          if (statusCode < 200) return
          head = { statusCode, headers: fields }
          clearTimeout(timer)
          timer = setTimeout(giveUp, bodyPatienceMs)
        },
        onResponseData(_controller, chunk) {
          readBytes += chunk.length
          if (readBytes > maxBodyBytes) giveUp()
        },
        onResponseEnd: () => settle(),
        onResponseError: (_controller, error) => settle(error)
      }
    )
  })
}
