import type { CallOptions } from './api.ts'
import { ApiError } from './api-error.ts'
import type { Input } from './request.ts'
import type { Answer } from './response.ts'
import { retryAfterMs } from './retry.ts'
import { targetOfLink } from './send.ts'
import type { Send } from './sending.ts'
import { wait } from './wait.ts'

/** Options of {@link Job}'s `result`. */
export interface JobResultOptions extends Pick<CallOptions, 'signal'> {
  /** Called with the progress of the job, from 0 to 100, when it has changed. */
  readonly onProgress?: ((percent: number) => void) | undefined
  /** The media type of the result, for example `text/csv`. */
  readonly as?: string | undefined
  /** How long to wait for the end of the job: an hour by default. */
  readonly maxWaitSeconds?: number | undefined
}

/** Work that continues after the response. */
export interface Job<Data> {
  /** Where the job is: path and query. Store it to read the job later. */
  readonly url: string
  /**
   * Waits for the end, and returns the result: its data, a text or a `Blob`, or undefined where the job has none. Rejects with an {@link ApiError} whose
   * code is that of the job, or `JOB_CANCELLED`. When the signal aborts, only the wait ends; `cancel` ends the job.
   */
  result(options?: JobResultOptions): Promise<Data>
  cancel(): Promise<void>
}

interface JobRecord {
  readonly status: string
  readonly progress?: number | undefined
  readonly error?: { readonly code: string; readonly message: string } | undefined
  readonly _links?: readonly { readonly rel: string; readonly href: string }[] | undefined
}

const defaultWaitSeconds = 3600
const defaultPauseMs = 1000
// The service responds when the job ends, or after this time.
const prefer = 'wait=20'

const linkOf = ({ _links = [] }: JobRecord, rel: string) => _links.find((link) => link.rel === rel)?.href

/** Creates the job that a response has accepted. */
export function jobOf(send: Send, base: string, path: string, first: Answer, input: Input): Job<never> {
  const href = first.response.headers.get('location') ?? linkOf(first.data as JobRecord, 'status')
  if (href === undefined) throw new Error(`client: POST ${path} started no job.`)
  const url = targetOfLink(href, base)
  const { headers, signal: own } = input
  const read = (target: string, more: object, signal: AbortSignal | undefined, method = 'GET') =>
    send({ method, path, target, input: { headers: { ...headers, ...more }, signal } })

  async function result({ signal = own, onProgress, as, maxWaitSeconds = defaultWaitSeconds }: JobResultOptions = {}): Promise<never> {
    const end = Date.now() + maxWaitSeconds * 1000
    let answer = first
    let shown: number | undefined
    for (;;) {
      const record = answer.data as JobRecord
      // A job with a page of its own result redirects to it.
      if (answer.response.redirected) return answer.data as never
      if (record.progress !== undefined && record.progress !== shown) onProgress?.((shown = record.progress))
      if (record.status === 'completed') {
        const target = linkOf(record, 'result')
        if (target === undefined) return undefined as never
        return (await read(targetOfLink(target, base), { accept: as }, signal)).data as never
      }
      if (record.status === 'failed' || record.status === 'cancelled') throw failureOf(record, answer.response)
      if (Date.now() > end) throw new Error(`client: ${url} has not ended in time.`)
      // A service that waits needs no pause.
      if (answer !== first && !answer.response.headers.has('preference-applied'))
        await wait(retryAfterMs(answer.response.headers) ?? defaultPauseMs, signal)
      answer = await read(url, { prefer }, signal).catch(async (error?: ApiError) => {
        if (error?.retry !== 'later') throw error
        // The job continues while it cannot be read.
        await wait(retryAfterMs(error.headers) ?? defaultPauseMs, signal)
        return first
      })
    }
  }
  return {
    url,
    result,
    async cancel() {
      await read(url, {}, undefined, 'DELETE')
    }
  }
}

function failureOf({ status, error }: JobRecord, response: Response) {
  return new ApiError(error?.message ?? `The job was ${status}.`, {
    code: error?.code ?? `JOB_${status.toUpperCase()}`,
    status: response.status,
    errors: [],
    headers: response.headers,
    retry: 'changed',
    effect: 'unknown',
    idempotencyKey: undefined,
    attempts: 1
  })
}
