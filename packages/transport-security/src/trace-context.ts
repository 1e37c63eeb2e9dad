/** The trace id and parent span id of a request, which are added to its log lines. */
export interface TraceContext {
  readonly traceId: string
  /** The id of the caller's span. */
  readonly parentId: string
}

const traceparent = /^00-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}$/

/** Parses a `traceparent` header of version 00 (W3C Trace Context §3.2). Returns undefined for anything else, including two headers. */
export function traceOf(header: unknown): TraceContext | undefined {
  const [, traceId, parentId] = typeof header === 'string' ? (traceparent.exec(header) ?? []) : []
  return traceId === undefined || parentId === undefined ? undefined : { traceId, parentId }
}
