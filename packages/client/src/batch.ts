import type { Api } from './api.ts'
import { ApiError } from './api-error.ts'
import { type Input, newKey, targetOf } from './request.ts'
import { type Answer, complaintOf } from './response.ts'
import { meaningOf } from './retry.ts'

/** An operation of a batch, with the types of its result. */
export interface BatchOperation<Data, Code extends string> {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Exists only for the compiler. */
  readonly types?: readonly [Data, Code] | undefined
}

interface Outcome {
  readonly id: string
  readonly status: number
  readonly headers?: Record<string, string> | undefined
  readonly body?: unknown
}

/** Returns an operation as the service reads it. */
export function operationOf(api: Api<unknown>, method: string, path: string, input: Input): BatchOperation<never, never> {
  const facts = api.operations[`${method} ${path}`] ?? {}
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(input.headers ?? {})) if (value !== undefined) headers[name] = value
  if (facts.key === 1) headers['idempotency-key'] = input.idempotencyKey ?? newKey()
  if (input.ifMatch !== undefined) headers['if-match'] = input.ifMatch
  return { method, path: targetOf(path, input, facts), headers, ...(input.body !== undefined && { body: input.body }) }
}

/** Returns the results of a batch in the order of its operations. */
export function resultsOf(operations: readonly BatchOperation<unknown, string>[], { data }: Answer): unknown[] {
  const outcomes = new Map((data as readonly Outcome[]).map((outcome) => [outcome.id, outcome]))
  return operations.map((operation, index) => {
    const outcome = outcomes.get(String(index))
    if (outcome === undefined) throw new Error(`client: operation ${index} of the batch has no result.`)
    return resultOf(operation, outcome)
  })
}

function resultOf({ method, headers }: BatchOperation<unknown, string>, { status, headers: given = {}, body }: Outcome) {
  const own = new Headers(given)
  const response = new Response(null, { status, headers: own })
  const inner = (body ?? {}) as { readonly data?: unknown; readonly _meta?: unknown }
  if (response.ok) return { ok: true, data: 'data' in inner ? inner.data : body, response }
  const { message, ...complaint } = complaintOf({ data: body, body, response })
  const key = headers['idempotency-key']
  const isReplayed = own.get('idempotency-replayed') === 'true'
  const meaning = meaningOf({
    method,
    status,
    code: complaint.code,
    isKeyed: key !== undefined,
    isRepeatable: headers['if-match'] !== undefined,
    isReplayed
  })
  const facts = { retry: complaint.retry ?? meaning.retry, effect: complaint.effect ?? meaning.effect, idempotencyKey: key, attempts: 1 }
  return { ok: false, error: new ApiError(message, { ...complaint, ...facts, status, headers: own }) }
}
