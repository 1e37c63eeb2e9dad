// The page of a run, as Markdown with charts of text.
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { charts, columnsOf, countOf, letters, sumOf } from './charts.ts'
import { type Mark, quantile } from './recorder.ts'
import type { World } from './world.ts'

export interface Run {
  readonly minutes: number
  readonly rate: number
  readonly seed: number
  /** What was left out, because a program or a right is missing. */
  readonly missing: readonly string[]
}

export function report(world: World, { minutes, rate, seed, missing }: Run): string {
  const { recorder, evidence, ledger, receivers } = world
  const failed = [...evidence.failures.values()]
  const names = [...new Set(recorder.marks.map(({ name }) => name))]
  const all = Array.from(recorder.slices).flatMap((slice) => slice?.ms ?? [])
  const lines = [
    '# A bad day in half an hour',
    '',
    `Written by \`pnpm soak --minutes ${minutes} --seed ${seed} --rate ${rate} --write\`. Four processes of the [orders service](../examples/orders-service) in production settings, behind nginx, on one PostgreSQL and one Redis, get a mixed load while everything around them fails. At the end, the databases and the receivers are compared with what clients know.`,
    '',
    `${new Date().toISOString().slice(0, 10)}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'processors'}, ${Math.round(totalmem() / 2 ** 30)} GB, for the service, its databases and its clients together; load ${loadavg()[1]?.toFixed(1)} in the last five minutes; Node.js ${process.versions.node}. ${Math.round(recorder.now)} seconds with the end.`,
    '',
    `**${failed.length === 0 ? 'Every invariant is true.' : `Failed invariants: ${failed.length}.`}** ${sumOf(Array.from(recorder.slices, (slice) => countOf(slice?.counts, 'all')))} responses, ${ledger.orders.size} orders, ${receivers.totals.delivered} deliveries, ${recorder.marks.length} faults; half of the successful requests took at most ${Math.round(quantile(all, 0.5))} ms, 99 % ${Math.round(quantile(all, 0.99))} ms.`,
    '',
    ...missing.flatMap((line) => [line, '']),
    '## Invariants',
    '',
    '| invariant | result | compared |',
    '|---|---|---|',
    ...[...new Set([...evidence.checked.keys(), ...evidence.failures.keys()])].map((name) => {
      const failure = evidence.failures.get(name)
      return `| ${name} | ${failure === undefined ? 'true' : `**failed ${failure.count} times**`} | ${evidence.checked.get(name) ?? ''} |`
    }),
    '',
    ...failed.flatMap(({ invariant, examples }) => [`### Failed: ${invariant}`, '', '```text', ...examples, '```', '']),
    '## The run',
    '',
    `Each column is ${Math.round(recorder.now / columnsOf(recorder))} seconds. A letter is a fault, in the list below the chart.`,
    '',
    '```text',
    ...charts(recorder, names),
    '```',
    '',
    ...names.map((name, index) => `- ${letters[index] ?? '+'}: ${name} ${durations(recorder.marks, name)}`),
    '',
    '## Responses',
    '',
    '| operation | outcomes |',
    '|---|---|',
    ...[...recorder.statuses]
      .sort((a, b) => a[0].localeCompare(b[0]))
      .map(
        ([operation, counts]) =>
          `| ${operation} | ${[...counts]
            .sort()
            .map(([outcome, count]) => `${outcome}: ${count}`)
            .join(', ')} |`
      ),
    '',
    '`nginx` are responses of the proxy itself, and `lost` are requests without a response. Correct clients send them again.',
    '',
    '## Notes',
    '',
    ...recorder.notes.map((note) => `- ${note}`),
    ''
  ]
  return lines.join('\n')
}

function durations(marks: readonly Mark[], name: string) {
  const own = marks.filter((mark) => mark.name === name)
  return own.map(({ from, to }) => `at ${Math.round(from)} s for ${(to - from).toFixed(1)} s`).join(', ')
}
