/** A counter, a histogram or a gauge, as operators see it. */
export interface Metric {
  /** In the form of OpenTelemetry, for example `concordat.job.duration`. */
  readonly name: string
  /** In the form of UCUM: `s`, `By`, or `{request}` for a number of things. */
  readonly unit: string
  readonly description: string
}

/** Attributes by name. Each has a few values, which no client can choose: a name, a code or an outcome, never an id, a path or a key. */
export type MetricAttributes = Readonly<Record<string, string | number>>

/** The value of a gauge. */
export interface Reading {
  readonly metric: Metric
  readonly value: number
  readonly attributes?: MetricAttributes | undefined
}

/** Values that are read when operators look: of a queue, a pool or a store. */
export interface Gauges {
  /** The gauges that `read` returns. */
  readonly metrics: readonly Metric[]
  /** Reads the values of this moment, with at most one statement, whose cost is bounded. */
  readonly read: () => readonly Reading[] | Promise<readonly Reading[]>
}

/** A part of the work of the service that a trace shows. */
export interface ObservedSpan {
  readonly name: string
  /** `consumer` continues what another request or process began; `client` sends a request; by default the work is part of its surroundings. */
  readonly kind?: 'consumer' | 'client' | undefined
  /** The trace that the work continues, as `traceparent` returned it where the work was ordered. @default the trace of the calling code */
  readonly parent?: string | undefined
  readonly attributes?: MetricAttributes | undefined
}

/** What plugins report to operators. A plugin that observes publishes it before the others, which otherwise report nothing, at no cost. */
export interface Observer {
  /** Adds 1 to a counter. */
  readonly count: (counter: Metric, attributes?: MetricAttributes) => void
  /** Adds a duration to a histogram. */
  readonly record: (histogram: Metric, seconds: number, attributes?: MetricAttributes) => void
  /** Returns the trace of the calling code in the form of the header `traceparent` (W3C Trace Context), or undefined without one. */
  readonly traceparent: () => string | undefined
  /** Begins a span. The returned function ends it. */
  readonly begin: (span: ObservedSpan) => (attributes?: MetricAttributes) => void
  /** Runs work in a span. A `client` sends the given headers, and no others that belong to the trace. */
  readonly run: <Result>(span: ObservedSpan, work: (headers: Readonly<Record<string, string>>) => Promise<Result>) => Promise<Result>
}
