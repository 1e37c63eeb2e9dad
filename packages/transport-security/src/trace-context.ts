/** The position of a request in a distributed trace, as its log lines show it. */
export interface TraceContext {
  readonly traceId: string
  /** The span of the sender of the request. */
  readonly parentId: string
}

const traceparent = /^00-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}$/

/** Reads a `traceparent` header of level 00 (W3C Trace Context §3.2). Returns undefined for anything else, including two headers. */
export function traceOf(header: unknown): TraceContext | undefined {
  const [, traceId, parentId] = typeof header === 'string' ? (traceparent.exec(header) ?? []) : []
  return traceId === undefined || parentId === undefined ? undefined : { traceId, parentId }
}
