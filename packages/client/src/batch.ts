import type { Api } from './api.ts'
import { type Input, newKey, targetOf } from './request.ts'
import { type Answer, errorOf } from './response.ts'

/** An operation of a batch, with the types of its result. */
export interface BatchOperation<Data, Code extends string> {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
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
  const headers: Record<string, string | undefined> = { ...input.headers }
  if (input.ifMatch !== undefined) headers['if-match'] = input.ifMatch
  if (facts.key === 1) headers['idempotency-key'] = input.idempotencyKey ?? newKey()
  return { method, path: targetOf(path, input, facts), headers, body: input.body }
}

/** Returns the results of a batch in the order of its operations. */
export function resultsOf({ json }: Api<unknown>, operations: readonly BatchOperation<unknown, string>[], { data }: Answer): unknown[] {
  const outcomes = new Map((data as readonly Outcome[]).map((outcome) => [outcome.id, outcome]))
  return operations.map(({ method, path, headers }, index) => {
    const outcome = outcomes.get(String(index))
    if (outcome === undefined) throw new Error(`client: operation ${index} of the batch has no result.`)
    const { status, headers: given = {}, body } = outcome
    const response = new Response(null, { status, headers: given })
    if (!response.ok)
      return {
        ok: false,
        error: errorOf({ body, response }, { method, key: headers['idempotency-key'], isRepeatable: headers['if-match'] !== undefined })
      }
    const inner = (json?.read(body, path) ?? body ?? {}) as { readonly data?: unknown }
    return { ok: true, data: 'data' in inner ? inner.data : body, response }
  })
}
