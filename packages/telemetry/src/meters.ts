import type { Metric, Observer } from '@concordat/plugin-kit/observer'
import type { Attributes, Counter, Histogram, Meter, ObservableGauge } from '@opentelemetry/api'

/** The instruments of a meter, each created at its first use. */
export type Instruments = ReturnType<typeof instrumentsOf>

// As OpenTelemetry recommends for the duration of requests. Without them, a duration in seconds would be in a bucket for milliseconds.
const boundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/** Creates the instruments of a meter. `nameOf` returns the name under which a metric is exported. */
export function instrumentsOf(meter: Meter, nameOf: (metric: Metric) => string) {
  const counters = new Map<Metric, Counter>()
  const histograms = new Map<Metric, Histogram>()

  function histogram(metric: Metric): Histogram {
    const known = histograms.get(metric)
    if (known !== undefined) return known
    const { unit, description } = metric
    const made = meter.createHistogram(nameOf(metric), { unit, description, advice: { explicitBucketBoundaries: boundaries } })
    histograms.set(metric, made)
    return made
  }

  const observer: Pick<Observer, 'count' | 'record'> = {
    count(metric, attributes) {
      let counter = counters.get(metric)
      if (counter === undefined) {
        const { unit, description } = metric
        counters.set(metric, (counter = meter.createCounter(nameOf(metric), { unit, description })))
      }
      counter.add(1, attributes)
    },
    record: (metric, seconds, attributes) => histogram(metric).record(seconds, attributes)
  }

  return {
    observer,
    histogram,
    /** Creates gauges that are read together whenever metrics are collected. A read that fails shows no values. */
    gauges(metrics: readonly Metric[], read: (observe: (metric: Metric, value: number, attributes?: Attributes) => void) => Promise<void>) {
      const gauges = new Map<Metric, ObservableGauge>()
      for (const metric of metrics) {
        const { unit, description } = metric
        gauges.set(metric, meter.createObservableGauge(nameOf(metric), { unit, description }))
      }
      meter.addBatchObservableCallback(
        (result) => read((metric, value, attributes) => result.observe(gauges.get(metric) as ObservableGauge, value, attributes)),
        [...gauges.values()]
      )
    }
  }
}

const suffixes: Readonly<Record<string, string>> = { s: 'seconds', By: 'bytes', '1': 'ratio' }

/** Returns the name with the suffix of its unit, which Prometheus expects and not every version of its exporter adds. */
export function prometheusName({ name, unit }: Metric): string {
  const suffix = suffixes[unit]
  return suffix === undefined ? name : `${name}.${suffix}`
}
