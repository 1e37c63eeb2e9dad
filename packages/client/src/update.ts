import { ApiError } from './api-error.ts'
import type { Input } from './request.ts'
import type { Answer } from './response.ts'
import type { Send } from './sending.ts'
import { wait } from './wait.ts'

/** What was loaded before, from `withResponse`. */
export interface Loaded<Data> {
  readonly data: Data
  readonly response: Response
}

const defaultTimeoutSeconds = 60
const firstPauseMs = 40
const longestPauseMs = 1000

/** Creates the function that reads a resource, changes it with If-Match, and starts again where another client was faster. */
export function createUpdate(
  send: Send,
  settings: { readonly timeoutSeconds?: number | undefined; readonly signal?: AbortSignal | undefined }
) {
  // Updates of one resource by one client wait for each other instead of meeting a conflict.
  const queues = new Map<string, Promise<unknown>>()

  return (path: string, { from, ...input }: Input & { from?: Loaded<unknown> }, change: (current: never) => unknown): Promise<Answer> => {
    const place = JSON.stringify([path, input.path])
    const act = () => changed(path, input, from, change)
    const turn = (queues.get(place) ?? Promise.resolve()).then(act, act)
    const settled = turn.then(forget, forget)
    queues.set(place, settled)
    function forget() {
      if (queues.get(place) === settled) queues.delete(place)
      return undefined
    }
    return turn
  }

  async function changed(
    path: string,
    input: Input,
    from: Loaded<unknown> | undefined,
    change: (current: never) => unknown
  ): Promise<Answer> {
    const end = Date.now() + (input.timeoutSeconds ?? settings.timeoutSeconds ?? defaultTimeoutSeconds) * 1000
    const rest = () => ({ timeoutSeconds: Math.max(0, end - Date.now()) / 1000 })
    const { idempotencyKey: key, ...read } = input
    for (let round = 0; ; round += 1) {
      const { data, response } = from ?? (await send({ method: 'GET', path, input: { ...read, ...rest() } }))
      const ifMatch = response.headers.get('etag')
      if (ifMatch === null) throw new Error(`client: GET ${path} returned no ETag.`)
      const body = await change(data as never)
      try {
        // The key of the caller belongs to the first body.
        const idempotencyKey = round === 0 ? key : undefined
        return await send({ method: 'PATCH', path, input: { ...read, ...rest(), idempotencyKey, body, ifMatch } })
      } catch (error) {
        // After an attempt without a response, the conflict is possibly with this change: applying it again could apply it twice.
        const isConflict = error instanceof ApiError && error.status === 412 && error.effect === 'none'
        if (!isConflict || from !== undefined || Date.now() > end) throw error
        await wait(Math.random() * Math.min(longestPauseMs, firstPauseMs * 2 ** round), input.signal ?? settings.signal)
      }
    }
  }
}
