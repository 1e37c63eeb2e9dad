import type { Api, LargeJson, OperationFacts } from './api.ts'
import { ApiError, ConnectionError, type Effect } from './api-error.ts'
import { bodyOf, newKey, targetOf } from './request.ts'
import { type Answer, errorOf, readResponse } from './response.ts'
import { meaningOf, retryAfterMs } from './retry.ts'
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
// Limits the retries of a client: a service that is down gets few of them. A retry that succeeds returns its cost.
const budget = 500
const costOfLost = 10
const costOfRefused = 5
const gainOfSuccess = 1

type Field = string | null

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
  const purse = { left: budget }
  const reported = new Set<string>()
  // Both ignore the path: for them, it is a reviver or a replacer without effect.
  const json = api.json ?? (JSON as unknown as LargeJson)

  return async function send(sending) {
    const { method, path, input } = sending
    const operation = `${method} ${path}`
    const facts = api.operations[operation] ?? {}
    const { signal: own } = input
    const limitMs = (input.timeoutSeconds ?? settings.timeoutSeconds ?? defaultTimeoutSeconds) * 1000
    const request = prepared(sending, facts, settings, json)
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
        report: (headers) => report(operation, headers),
        retries: input.retries ?? settings.retries ?? defaultRetries
      })
    )
    // A stored response without its secrets: the resource itself is complete.
    const location = answer.response.headers.get('location')
    if (answer.response.headers.get('idempotency-status') !== 'incomplete' || location === null || sending.isRaw === true) return answer
    const { body: _body, idempotencyKey: _key, query: _query, ...others } = input
    return send({ method: 'GET', path, target: targetOfLink(location, settings.baseUrl), input: others })
  }

  function report(operation: string, headers: Headers) {
    const [deprecation, sunset, digest] = ['deprecation', 'sunset', 'description-digest'].map((name) => headers.get(name)) as [
      Field,
      Field,
      Field
    ]
    if (deprecation !== null || sunset !== null)
      once(operation, () => settings.onDeprecation?.({ operation, deprecation, sunset, link: headers.get('link') }))
    if (digest !== null && api.digest !== undefined && digest !== api.digest) once(digest, () => settings.onDescriptionChange?.(digest))
  }

  function once(name: string, act: () => void) {
    if (reported.has(name)) return
    reported.add(name)
    act()
  }
}

function prepared(
  { method, path, input, target, isRepeatable = false }: Sending,
  facts: OperationFacts,
  settings: ClientOptions,
  json: LargeJson
) {
  const headers = new Headers({ accept: 'application/json, */*;q=0.5' })
  for (const [name, value] of Object.entries({ ...settings.headers, ...input.headers })) if (value !== undefined) headers.set(name, value)
  const key = facts.key === 1 && target === undefined ? (input.idempotencyKey ?? newKey()) : undefined
  if (key !== undefined) headers.set('idempotency-key', key)
  if (input.ifMatch !== undefined) headers.set('if-match', input.ifMatch)
  const { body, type, isRepeatable: hasRepeatableBody } = bodyOf(input.body, facts.type, json, path)
  if (type !== undefined) headers.set('content-type', type)
  return {
    url: settings.baseUrl.replace(/\/$/, '') + (target ?? targetOf(path, input, facts)),
    // Node requires `duplex` for streams.
    init: { method, body, ...(!hasRepeatableBody && { duplex: 'half' }) } as RequestInit,
    headers,
    method,
    json,
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
  report(headers: Headers): void
}

async function attempts(work: Work): Promise<Answer> {
  const { settings, purse, end, signal, headers } = work
  const progress: Progress = { attempts: 0, isUncertain: false, isRefreshed: false, spent: 0 }
  for (let counted = 1; ; counted += 1) {
    const token = work.needsToken ? await (settings.session?.token() ?? settings.token?.()) : undefined
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
    progress.attempts += 1
    const outcome = await attempt(work, progress)
    const isError = outcome instanceof ApiError
    work.report((isError ? outcome : outcome.response).headers)
    if (!isError) {
      purse.left = Math.min(budget, purse.left + Math.max(progress.spent, gainOfSuccess))
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
      const cost = outcome.status === 0 ? costOfLost : costOfRefused
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
  const { settings, sending, init, headers, url, end, key, isRepeatable, json } = work
  const { method, path, input, isRaw } = sending
  const limitMs = Math.min((settings.attemptTimeoutSeconds ?? defaultAttemptSeconds) * 1000, end - Date.now())
  try {
    const answer = await withDeadline(limitMs, [work.signal], async (signal) => {
      const response = await (settings.fetch ?? fetch)(url, { ...init, headers, signal })
      return isRaw === true && response.ok ? { data: undefined, body: undefined, response } : readResponse(response, json, path)
    })
    const { response } = answer
    if (response.ok) return answer
    // The first attempt has possibly deleted what the second does not find.
    if (method === 'DELETE' && response.status === 404 && progress.isUncertain) return { data: undefined, body: undefined, response }
    const isDecided = method === 'GET' || (key !== undefined && response.status === 412)
    return errorOf(answer, work, progress.attempts, (effect) => joined(progress, effect, isDecided))
  } catch (error) {
    if (work.isAborted()) throw (settings.signal?.aborted === true ? settings : input).signal?.reason
    const code = (error as Error).name === 'TimeoutError' ? 'TIMED_OUT' : 'CONNECTION_FAILED'
    const meaning = meaningOf({ method, status: 0, code, isKeyed: key !== undefined, isRepeatable, isReplayed: false })
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
