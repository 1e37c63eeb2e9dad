/** Where a request stands in a distributed trace, as its log lines say it. */
export interface TraceContext {
  readonly traceId: string
  /** The span of whoever sent the request. */
  readonly parentId: string
}

const traceparent = /^00-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}$/

/** Reads a `traceparent` header of level 00 (W3C Trace Context §3.2); undefined for anything else, two headers included. */
export function traceOf(header: unknown): TraceContext | undefined {
  const [, traceId, parentId] = typeof header === 'string' ? (traceparent.exec(header) ?? []) : []
  return traceId === undefined || parentId === undefined ? undefined : { traceId, parentId }
}
