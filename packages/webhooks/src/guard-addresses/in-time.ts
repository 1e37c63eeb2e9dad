import { AttemptFailure } from './attempt-failure.ts'

/** Settles like the promise, or rejects with the failure `TIMEOUT` if the signal aborts first. Ignores the promise after that. */
export async function inTime<Result>(promise: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const late = Promise.withResolvers<never>()
  const reject = () => late.reject(new AttemptFailure('TIMEOUT'))
  signal.addEventListener('abort', reject, { once: true })
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    signal.removeEventListener('abort', reject)
  }
}
