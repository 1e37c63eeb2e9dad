export { measureCalls } from './measured-calls.ts'
export type { Gauges, Metric, MetricAttributes, ObservedSpan, Observer, Reading } from './observer.ts'
