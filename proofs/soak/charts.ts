// Charts of text: a line of blocks for each figure, one column for a part of the run.
import { megabytes } from './logs.ts'
import { quantile, type Recorder, sliceSeconds } from './recorder.ts'

const maxColumns = 100
export const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const blocks = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']

/** Returns how many columns the charts of a run have, each of them at least as long as a slice. */
export function columnsOf(recorder: Recorder): number {
  return Math.min(maxColumns, Math.ceil(recorder.now / sliceSeconds))
}

/** Returns the lines of all charts, and above them the letters of the faults. */
export function charts(recorder: Recorder, names: readonly string[]): string[] {
  const { slices, samples, marks } = recorder
  const columns = columnsOf(recorder)
  const columnOf = (second: number) => Math.min(columns - 1, Math.floor((second / recorder.now) * columns))
  const group = <Value>(values: readonly { readonly second: number; readonly value: Value | undefined }[]) => {
    const groups: Value[][] = Array.from({ length: columns }, () => [])
    for (const { second, value } of values) if (value !== undefined) groups[columnOf(second)]?.push(value)
    return groups
  }
  const ofSlices = (of: (index: number) => number) =>
    group(Array.from(slices, (_, index) => ({ second: index * sliceSeconds, value: of(index) })))
  const times = group(
    Array.from(slices).flatMap((slice, index) => (slice?.ms ?? []).map((value) => ({ second: index * sliceSeconds, value })))
  )
  const perSecond = (name: string) => average(ofSlices((index) => countOf(slices[index]?.counts, name) / sliceSeconds))
  const of = (value: (sample: (typeof samples)[number]) => number | undefined) =>
    group(samples.map((sample) => ({ second: sample.second, value: value(sample) })))
  const faults = Array.from({ length: columns }, () => ' ')
  for (const { name, from } of marks) faults[columnOf(from)] = letters[names.indexOf(name)] ?? '+'
  const deliveries = samples.map((sample, index) => ({
    second: sample.second,
    value: (sample.deliveries - (samples[index - 1]?.deliveries ?? 0)) / sliceSeconds
  }))
  return [
    `${'faults'.padEnd(28)} ${faults.join('')}`,
    chart('responses a second', perSecond('all')),
    chart('server errors a second', perSecond('5xx')),
    chart('errors of nginx a second', perSecond('nginx')),
    chart('lost requests a second', perSecond('lost')),
    chart('client errors a second', perSecond('4xx')),
    chart(
      'p50, ms',
      times.map((one) => (one.length === 0 ? undefined : quantile(one, 0.5)))
    ),
    chart(
      'p99, ms',
      times.map((one) => (one.length === 0 ? undefined : quantile(one, 0.99)))
    ),
    chart('jobs and deliveries waiting', most(of(({ waiting }) => waiting))),
    chart('age of the oldest, s', most(of(({ oldestSeconds }) => oldestSeconds))),
    chart('dead rows of the queue', most(of(({ deadRows }) => deadRows))),
    chart('late timers of the soak, ms', most(of(({ lateMs }) => lateMs))),
    chart('deliveries a second', average(group(deliveries))),
    ...(samples[0]?.memory ?? []).map((_, slot) => chart(`memory of process ${slot}`, most(of(({ memory }) => memory[slot])), megabytes))
  ]
}

function chart(name: string, values: readonly (number | undefined)[], show = (value: number) => String(Math.round(value * 10) / 10)) {
  const highest = Math.max(...values.map((value) => value ?? 0), 0)
  const bars = values.map((value) => (value === undefined ? '·' : blocks[highest === 0 ? 0 : Math.ceil((value / highest) * 8)]))
  return `${name.padEnd(28)} ${bars.join('')} ≤ ${show(highest)}`
}

export function countOf(counts: ReadonlyMap<string, number> | undefined, name: string): number {
  return name === 'all'
    ? sumOf([...(counts ?? [])].filter(([outcome]) => outcome !== 'lost').map(([, count]) => count))
    : (counts?.get(name) ?? 0)
}

export function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}

function average(groups: readonly number[][]) {
  return groups.map((values) => (values.length === 0 ? undefined : sumOf(values) / values.length))
}

function most(groups: readonly number[][]) {
  return groups.map((values) => (values.length === 0 ? undefined : Math.max(...values)))
}
