import { ApiError, type ConnectionCode } from './api-error.ts'
import type { Answer } from './response.ts'

/** Data, or the error with the codes that the operation can have. */
export type Result<Data, Code extends string> =
  | { readonly ok: true; readonly data: Data; readonly response: Response }
  | { readonly ok: false; readonly error: ApiError<Code | ConnectionCode> }

/** A request that was sent. It resolves with the data of the response. */
export interface Call<Data, Code extends string> extends Promise<Data> {
  /** Resolves with errors too. It rejects only where the caller has aborted. */
  result(): Promise<Result<Data, Code>>
  withResponse(): Promise<{ readonly data: Data; readonly response: Response }>
  /** Resolves with the response before its body is read: for large downloads. The time limit then ends with the headers. */
  asResponse(): Promise<Response>
}

/** Sends after the current task, so that `asResponse` can decide that the body is not read. */
export function callOf(send: (isRaw: boolean) => Promise<Answer>): Call<never, never> {
  let isRaw = false
  const work = Promise.resolve().then(() => send(isRaw))
  const promise = work.then(({ data }) => data)
  // Another form has its own promise: without this line, Node.js would end the process for the error of the first.
  const other = <Form>(form: Promise<Form>) => {
    promise.catch(() => {})
    return form
  }
  return Object.assign(promise, {
    result: () =>
      other(
        work.then(
          ({ data, response }) => ({ ok: true, data, response }),
          (error: unknown) => {
            if (error instanceof ApiError) return { ok: false, error }
            throw error
          }
        )
      ),
    withResponse: () => other(work.then(({ data, response }) => ({ data, response }))),
    asResponse() {
      isRaw = true
      return other(work.then(({ response }) => response))
    }
  }) as Call<never, never>
}
