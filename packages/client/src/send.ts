import type { Api, OperationFacts } from './api.ts'
import { ApiError, ConnectionError, type Effect } from './api-error.ts'
import { bodyOf, newKey, targetOf } from './request.ts'
import { type Answer, complaintOf, readResponse } from './response.ts'
import { budget, meaningOf, retryAfterMs } from './retry.ts'
import type { Send, Sending } from './sending.ts'
import type { ClientOptions } from './settings.ts'
import { wait, withDeadline } from './wait.ts'

const defaultRetries = 2
const defaultTimeoutSeconds = 60
const defaultAttemptSeconds = 30
const defaultRetryAfterSeconds = 60
// Doubles with each attempt, up to the longest. A random part of it is waited.
const firstPauseMs = 500
const longestPauseMs = 8000
// A spread above Retry-After, so that all clients do not return in the same moment.
const spreadMs = 250

/** What the attempts of one request have in common. */
interface Progress {
  attempts: number
  /** Whether an earlier attempt had possibly an effect. */
  isUncertain: boolean
  isRefreshed: boolean
  spent: number
}

/** Returns path and query of a link, which has the public host of the service: a token never goes to another host. */
export function targetOfLink(href: string, base: string): string {
  const { pathname, search } = new URL(href, base)
  return pathname + search
}

/** Creates the function that sends requests, with its retry budget. */
export function createSend(api: Api<unknown>, settings: ClientOptions): Send {
  const purse = { left: budget.capacity }
  const reported = new Set<string>()

  return async function send(sending) {
    const { method, path, input } = sending
    const operation = `${method} ${path}`
    const facts = api.operations[operation] ?? {}
    const { signal: own } = input
    const limitMs = (input.timeoutSeconds ?? settings.timeoutSeconds ?? defaultTimeoutSeconds) * 1000
    const request = prepared(sending, facts, settings)
    const isAborted = () => settings.signal?.aborted === true || own?.aborted === true
    const end = Date.now() + limitMs
    const answer = await withDeadline(limitMs, [settings.signal, own], async (signal) =>
      attempts({
        ...request,
        purse,
        settings,
        sending,
        signal,
        end,
        isAborted,
        retries: input.retries ?? settings.retries ?? defaultRetries
      })
    )
    report(operation, answer.response.headers)
    // A stored response without its secrets: the resource itself is complete.
    const location = answer.response.headers.get('location')
    if (answer.response.headers.get('idempotency-status') !== 'incomplete' || location === null || sending.isRaw === true) return answer
    const { body: _body, idempotencyKey: _key, query: _query, ...others } = input
    return send({ method: 'GET', path, target: targetOfLink(location, settings.baseUrl), input: others })
  }

  function report(operation: string, headers: Headers) {
    const [deprecation, sunset] = [headers.get('deprecation'), headers.get('sunset')]
    if ((deprecation === null && sunset === null) || reported.has(operation)) return
    reported.add(operation)
    settings.onDeprecation?.({ operation, deprecation, sunset, link: headers.get('link') })
  }
}

function prepared({ method, path, input, target, isRepeatable = false }: Sending, facts: OperationFacts, settings: ClientOptions) {
  const headers = new Headers({ accept: 'application/json, */*;q=0.5' })
  for (const [name, value] of Object.entries({ ...settings.headers, ...input.headers })) if (value !== undefined) headers.set(name, value)
  const key = facts.key === 1 && target === undefined ? (input.idempotencyKey ?? newKey()) : undefined
  if (key !== undefined) headers.set('idempotency-key', key)
  if (input.ifMatch !== undefined) headers.set('if-match', input.ifMatch)
  const { body, type, isRepeatable: hasRepeatableBody } = bodyOf(input.body, facts.type)
  if (type !== undefined) headers.set('content-type', type)
  return {
    url: settings.baseUrl.replace(/\/$/, '') + (target ?? targetOf(path, input, facts)),
    // Node requires `duplex` for streams.
    init: { method, ...(body !== undefined && { body }), ...(!hasRepeatableBody && { duplex: 'half' }) } as RequestInit,
    headers,
    key,
    needsToken: facts.open !== 1,
    hasRepeatableBody,
    // A repeated If-Match cannot apply twice.
    isRepeatable: isRepeatable || method === 'PUT' || method === 'DELETE' || input.ifMatch !== undefined
  }
}

interface Work extends ReturnType<typeof prepared> {
  /** What is left of the budget of the client. */
  readonly purse: { left: number }
  readonly settings: ClientOptions
  readonly sending: Sending
  readonly signal: AbortSignal
  readonly end: number
  readonly retries: number
  isAborted(): boolean
}

async function attempts(work: Work): Promise<Answer> {
  const { settings, purse, end, signal, headers } = work
  const progress: Progress = { attempts: 0, isUncertain: false, isRefreshed: false, spent: 0 }
  for (let counted = 1; ; counted += 1) {
    const token = work.needsToken ? await (settings.session?.token() ?? settings.token?.()) : undefined
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
    progress.attempts += 1
    const outcome = await attempt(work, progress)
    if (!(outcome instanceof ApiError)) {
      purse.left = Math.min(budget.capacity, purse.left + Math.max(progress.spent, budget.success))
      return outcome
    }
    if (await refreshed(work, progress, outcome, token)) {
      counted -= 1
      continue
    }
    const given = retryAfterMs(outcome.headers)
    const pause = given ?? Math.random() * Math.min(longestPauseMs, firstPauseMs * 2 ** counted)
    const isInProgress = outcome.code === 'IDEMPOTENCY_IN_PROGRESS'
    const isTooLong = pause > (settings.maxRetryAfterSeconds ?? defaultRetryAfterSeconds) * 1000 || Date.now() + pause > end
    if (outcome.retry !== 'later' || !work.hasRepeatableBody || isTooLong || (!isInProgress && counted > work.retries)) throw outcome
    if (isInProgress) counted -= 1
    else {
      const cost = outcome.status === 0 ? budget.lost : budget.refused
      if (purse.left < cost) throw outcome
      purse.left -= cost
      progress.spent += cost
    }
    await wait(given === undefined ? pause : pause + Math.random() * spreadMs, signal).catch((error) => {
      // The spread can exceed the time limit of the call.
      throw work.isAborted() ? error : outcome
    })
  }
}

async function refreshed({ hasRepeatableBody, settings }: Work, progress: Progress, { code }: ApiError, token: string | undefined) {
  if (code !== 'TOKEN_EXPIRED' || progress.isRefreshed || !hasRepeatableBody || settings.session === undefined || token === undefined)
    return false
  progress.isRefreshed = true
  await settings.session.refresh(token)
  return true
}

/** Returns the response, or the error that it or its absence means. Throws only where the caller has aborted. */
async function attempt(work: Work, progress: Progress): Promise<Answer | ApiError> {
  const { settings, sending, init, headers, url, end, key, isRepeatable } = work
  const limitMs = Math.min((settings.attemptTimeoutSeconds ?? defaultAttemptSeconds) * 1000, end - Date.now())
  const isKeyed = key !== undefined
  try {
    const answer = await withDeadline(limitMs, [work.signal], async (signal) => {
      const response = await (settings.fetch ?? fetch)(url, { ...init, headers, signal })
      return sending.isRaw === true && response.ok ? { data: undefined, body: undefined, response } : readResponse(response)
    })
    const { response } = answer
    if (response.ok) return answer
    // The first attempt has possibly deleted what the second does not find.
    if (sending.method === 'DELETE' && response.status === 404 && progress.isUncertain)
      return { data: undefined, body: undefined, response }
    const { message, ...complaint } = complaintOf(answer)
    const isReplayed = response.headers.get('idempotency-replayed') === 'true'
    const meaning = meaningOf({ method: sending.method, status: response.status, code: complaint.code, isKeyed, isRepeatable, isReplayed })
    return new ApiError(message, {
      ...complaint,
      status: response.status,
      headers: response.headers,
      retry: complaint.retry ?? meaning.retry,
      effect: joined(progress, complaint.effect ?? meaning.effect, sending.method === 'GET' || (isKeyed && response.status === 412)),
      idempotencyKey: key,
      attempts: progress.attempts
    })
  } catch (error) {
    if (work.isAborted()) throw settings.signal?.aborted === true ? settings.signal.reason : sending.input.signal?.reason
    const isTimeout = (error as Error).name === 'TimeoutError'
    const code = isTimeout ? 'TIMED_OUT' : 'CONNECTION_FAILED'
    const meaning = meaningOf({ method: sending.method, status: 0, code, isKeyed, isRepeatable, isReplayed: false })
    const effect = joined(progress, meaning.effect)
    const rest = { errors: [], headers: new Headers(), idempotencyKey: key, attempts: progress.attempts }
    const failure = new ConnectionError('No whole response.', { code, status: 0, retry: meaning.retry, effect, ...rest })
    return Object.assign(failure, { cause: error })
  }
}

// A response before the key was read says nothing about earlier attempts. A 412 with a key does: an earlier success would have been returned instead.
function joined(progress: Progress, effect: Effect, isDecided = false): Effect {
  const all = progress.isUncertain && effect === 'none' && !isDecided ? 'unknown' : effect
  if (effect === 'unknown') progress.isUncertain = true
  return all
}
