// Writes the results: docs/performance.md, and the section Cost of the READMEs.
import type { Growth, Soak } from './growth.ts'
import type { Measured } from './measure.ts'
import { parts, type Row, rows } from './rows.ts'

export interface Results extends Measured {
  /** The processor time until a server listened, in milliseconds, by its file. */
  readonly starts: ReadonlyMap<string, readonly number[]>
  readonly growth: readonly Growth[]
  readonly soak: readonly Soak[]
  readonly rounds: number
  readonly minutes: number
  readonly load: string
  readonly machine: string
  readonly versions: string
}

const titles: Readonly<Record<string, string>> = {
  bare: 'Fastify',
  same: 'same, hand-written',
  official: 'official plugins',
  nest: 'NestJS',
  express: 'Express',
  hono: 'Hono',
  ours: 'Concordat'
}
const peers = Object.keys(titles)
/** A peer that is slower than its floor by more than this share makes its row invalid. */
const tolerance = 0.1

/** Returns the page: tables, a chart, and what was measured how. */
export function page(results: Results): string {
  const { rounds, minutes, load, machine, versions, growth, soak, starts } = results
  const measured = rows.filter((row) => costOf(results, row, 'ours') !== undefined)
  const inMemory = measured.filter(({ isOnPostgres }) => !isOnPostgres)
  const onPostgres = measured.filter(({ isOnPostgres }) => isOnPostgres)
  const used = peers.filter((peer) => inMemory.some((row) => costOf(results, row, peer)))
  const lines = [
    '# Performance',
    '',
    'Written by `pnpm bench`. All figures are processor time of the server, without that of the client; that of PostgreSQL has columns of its own.',
    '',
    `${rounds} interleaved rounds in ${minutes} minutes, each with new processes, which have served more than 30,000 requests of each row before, except sign-ins and batches; medians, with the quartiles in parentheses. Load of the machine at the end ${load}, ${machine}; ${versions}. Each peer sends the same status and the same bytes in the body, which the run checks before it measures, and logs to the same destination with the same buffer. Times depend on the machine, so compare the columns.`,
    ''
  ]
  if (inMemory.length > 0) {
    lines.push('## Requests, in memory', '', 'Microseconds per request, and in bold the throughput compared with Fastify.', '')
    lines.push(`| request | ${used.map((peer) => titles[peer]).join(' | ')} |`, `|---|${used.map(() => '---').join('|')}|`)
    for (const row of inMemory)
      lines.push(`| ${row.title}${validity(results, row)} | ${used.map((peer) => cell(results, row, peer)).join(' | ')} |`)
    lines.push(
      '',
      '- **Fastify** has response schemas and its own log, and no plugin: no token, limits, tags or keys. For a 304 its column has the whole response, for a replay a POST without a key.'
    )
    lines.push(
      '- **same, hand-written** is Fastify with code by its public API that sends the same bytes and header fields, with the same token check, limits, tag and log line; its gate for keys has no lease and no waiting.'
    )
    lines.push(
      '- **official plugins** are `@fastify/helmet`, `compress`, `jwt`, `rate-limit`, `etag` and `under-pressure`, with the same gate. Its tags include the time of the response, so it never sends 304.'
    )
    lines.push(
      '- NestJS runs on its Fastify adapter; NestJS, Express and Hono have a log and no token, limits or tags, except that Express adds a tag.',
      ''
    )
    lines.push(...errorOf(results, inMemory), ...chart(results, inMemory))
  }
  if (onPostgres.length > 0) {
    lines.push(
      '## Requests, on PostgreSQL',
      '',
      'Compared with hand-written Fastify and `pg` that sends the same bytes and needs as many statements and round trips.',
      ''
    )
    lines.push('| request | hand-written | Concordat | throughput compared | PostgreSQL, hand-written | PostgreSQL, Concordat |')
    lines.push('|---|---|---|---|---|---|')
    for (const row of onPostgres) {
      const ratio = ratioOf(results, row, 'ours', 'same')
      lines.push(
        `| ${row.title} | ${spread(costOf(results, row, 'same'))} | ${spread(costOf(results, row, 'ours'))} | ${ratio?.toFixed(2) ?? '–'} | ${databaseCost(results, row, 'same')} | ${databaseCost(results, row, 'ours')} |`
      )
    }
    lines.push('', ...errorOf(results, onPostgres))
  }
  if (starts.size > 0) {
    lines.push(
      '## Start',
      '',
      'Milliseconds of processor time until the server listens, in production, without a database.',
      '',
      '| server | ms |',
      '|---|---|'
    )
    for (const [file, title] of [
      ['./peers/bare.mjs', titles['bare']],
      ['./peers/official.mjs', titles['official']],
      ['./ours.ts', titles['ours']]
    ] as const)
      lines.push(`| ${title} | ${spread(starts.get(file), 0)} |`)
    lines.push('')
  }
  const ofParts = partCosts(results)
  if (ofParts.length > 0) {
    lines.push(
      '## Plugins',
      '',
      'What an item costs less when the preset leaves out a plugin.',
      '',
      '| plugin | µs | share |',
      '|---|---|---|'
    )
    for (const [part, { saved, share }] of ofParts)
      lines.push(saved > 0 ? `| ${part} | ${saved.toFixed(1)} | ${percent(share)} |` : `| ${part} | not measurable | |`)
    lines.push('', `With metrics for Prometheus it costs ${metricsCost(results)}.`, '')
  }
  if (growth.length > 0) {
    lines.push('## Growth', '', '| request | few, µs | many, µs | |', '|---|---|---|---|')
    for (const { what, few, many } of growth)
      lines.push(`| ${what} | ${spread(few)} | ${spread(many)} | × ${(median(many) / median(few)).toFixed(2)} |`)
    lines.push('')
  }
  if (soak.length > 0) {
    lines.push(
      '## Memory',
      '',
      'A process on PostgreSQL after 20,000 and after 200,000 mixed requests: items, collections, orders with keys, replays and 404.',
      ''
    )
    lines.push('| memory | 20,000 | 200,000 | |', '|---|---|---|---|')
    for (const { what, early, late, ratio } of soak)
      lines.push(
        `| ${what === 'heap' ? 'heap after a collection' : 'resident'} | ${megabytes(early)} | ${megabytes(late)} | × ${ratio.toFixed(2)} |`
      )
    lines.push('')
  }
  return lines.join('\n')
}

/** Returns the section Cost of each README, by file. A row that is not valid is quoted in none. */
export function costSections(results: Results): Map<string, string> {
  const sections = new Map<string, string>()
  const against = (name: string, other: string) => ratioOf(results, rowOf(name), 'ours', other)?.toFixed(2)
  const micros = (name: string, peer: string) => costOf(results, rowOf(name), peer)
  const isValid = (name: string) => validity(results, rowOf(name)) === ''
  const source = '[performance](../../docs/performance.md)'
  const compared = (names: readonly string[]) =>
    names
      .filter(isValid)
      .map((name) => `${rowOf(name).title} ${against(name, 'same')}`)
      .join(', ')
  const reads = `throughput compared with hand-written Fastify with the same bytes, token check, limits, tag and log line: ${compared(['item', 'collection', 'order', 'replay'])}`
  const factors = ['item', 'collection', 'order', 'replay']
    .filter(isValid)
    .map((name) => `${rowOf(name).title} takes ${(1 / (ratioOf(results, rowOf(name), 'ours', 'same') ?? 1)).toFixed(1)} times`)
  sections.set(
    'README.md',
    `- Compared with hand-written Fastify that sends the same bytes, with the same token check, limits, tag and log line, ${factors.join(', ')} the processor time ([performance](docs/performance.md)).`
  )
  sections.set('packages/conventions/README.md', `Processor time, as ${reads} (${source}).`)
  for (const [part, { saved, share }] of partCosts(results)) {
    if (part.startsWith('@')) continue
    sections.set(
      `packages/${part}/README.md`,
      saved > 0
        ? `An item costs ${saved.toFixed(1)} µs of processor time less without this plugin, ${percent(share)} of what it costs with the preset (${source}).`
        : `What an item costs less without this plugin is too little to be measured (${source}).`
    )
  }
  if (partCosts(results).length > 0)
    sections.set(
      'packages/telemetry/README.md',
      `An item costs ${metricsCost(results)} with the metrics for Prometheus and the preset (${source}).`
    )
  const order = `A POST with a new key takes ${times(micros('order', 'ours'))}, a replay ${times(micros('replay', 'ours'))}; with the rest of the preset, and in memory. Hand-written code takes ${times(micros('order', 'same'))} and ${times(micros('replay', 'same'))} (${source}).`
  quote('packages/idempotency/README.md', ['order', 'replay'], order)
  const batch = median(micros('batch', 'ours') ?? []) / (20 * median(micros('item', 'ours') ?? []))
  quote(
    'packages/batch/README.md',
    ['batch', 'item'],
    `A batch of 20 reads takes ${batch.toFixed(2)} of the processor time of 20 requests (${source}).`
  )
  quote(
    'packages/token-issuing/README.md',
    ['sign-in'],
    `A sign-in takes ${times(micros('sign-in', 'ours'))}, nearly all of it for the hash of the password; hand-written code takes ${times(micros('sign-in', 'same'))} (${source}).`
  )
  const stored = compared(['item', 'collection', 'order', 'replay', 'sign-in'].map((name) => `postgres-${name}`))
  sections.set(
    'packages/postgres/README.md',
    `Throughput compared with hand-written Fastify and \`pg\` with as many statements: ${stored} (${source}).`
  )
  const page = micros('postgres-collection', 'ours')
  quote(
    'packages/pagination-query/README.md',
    ['postgres-collection'],
    `A page of 50 from PostgreSQL takes ${times(page)}, with the rest of the preset; hand-written code takes ${times(micros('postgres-collection', 'same'))} (${source}).`
  )
  const [, , , events] = results.growth
  if (events)
    sections.set(
      'packages/webhooks/README.md',
      `A POST whose event has one subscriber takes ${times(events.few)} with one subscription, and ${times(events.many)} with 10,000 (${source}).`
    )
  return sections

  function quote(file: string, names: readonly string[], text: string) {
    sections.set(file, names.every(isValid) ? text : `The last run has no valid figure (${source}).`)
  }
}

/** Returns what the hand-written code is compared with itself: a difference that is smaller shows nothing. */
function errorOf(results: Results, measured: readonly Row[]): string[] {
  const ratios = measured.flatMap((row) => {
    const ratio = ratioOf(results, row, 'again', 'same')
    return ratio === undefined ? [] : [`${row.title} ${ratio.toFixed(2)}`]
  })
  return ratios.length === 0 ? [] : [`The error: the hand-written code compared with itself, in another process: ${ratios.join(', ')}.`, '']
}

function databaseCost({ databaseCosts }: Results, row: Row, peer: string) {
  return spread([...databaseCosts].find(([cell]) => cell.row.name === row.name && cell.peer === peer)?.[1], 0)
}

function chart(results: Results, measured: readonly Row[]): string[] {
  const shown = measured.filter((row) => ['item', 'collection', 'order', 'replay'].includes(row.name) && validity(results, row) === '')
  const lines = ['```text']
  for (const row of shown) {
    const costs = peers.flatMap((peer) => {
      const own = costOf(results, row, peer)
      return own === undefined ? [] : [[peer, median(own)] as const]
    })
    const most = Math.max(...costs.map(([, cost]) => cost))
    lines.push(`${row.title}, µs`)
    for (const [peer, cost] of costs)
      lines.push(`  ${String(titles[peer]).padEnd(20)} ${'█'.repeat(Math.max(1, Math.round((cost / most) * 50)))} ${cost.toFixed(1)}`)
  }
  return [...lines, '```', '']
}

function cell(results: Results, row: Row, peer: string) {
  const own = costOf(results, row, peer)
  if (own === undefined) return '–'
  const ratio = ratioOf(results, row, peer, 'bare')
  return `${spread(own)}${peer === 'bare' || ratio === undefined ? '' : ` **${ratio.toFixed(2)}**`}`
}

/** A row is not valid when a peer is much slower than it was when it was written: then a comparison with it would flatter. */
function validity(results: Results, row: Row) {
  const slow = Object.entries(row.floors ?? {}).filter(
    ([peer, floor]) => (ratioOf(results, row, peer, 'bare') ?? floor) < floor * (1 - tolerance)
  )
  return slow.map(([peer, floor]) => ` (**not valid**: ${titles[peer]} must reach ${floor})`).join('')
}

function costOf({ costs }: Results, row: Row, peer: string): readonly number[] | undefined {
  const find = (name: string) => [...costs].find(([cell]) => cell.row.name === name && cell.peer === peer)?.[1]
  return find(row.name) ?? (peer === 'bare' && row.baseline !== undefined ? find(row.baseline) : undefined)
}

/** The throughput of a peer compared with another: the median of the ratios of each round, because load affects both. */
function ratioOf(results: Results, row: Row, peer: string, other: string): number | undefined {
  const [own, others] = [costOf(results, row, peer), costOf(results, row, other)]
  return own && others && median(own.map((cost, round) => (others[round] as number) / cost))
}

function partCosts(results: Results): [string, { saved: number; share: number }][] {
  const row = { name: 'parts' } as Row
  if (costOf(results, row, 'ours') === undefined) return []
  return Object.entries(parts).map(([part, name]) => [name, savedBy(results, part)])
}

function savedBy(results: Results, change: string) {
  const costsOf = (peer: string) => costOf(results, { name: 'parts' } as Row, peer) as readonly number[]
  const [whole, changed] = [costsOf('ours'), costsOf(change)]
  const saved = median(whole.map((cost, round) => cost - (changed[round] as number)))
  return { saved, share: saved / median(whole) }
}

function metricsCost(results: Results) {
  const { saved, share } = savedBy(results, 'metrics')
  return `${(-saved).toFixed(1)} µs more, ${percent(-share)}`
}

const rowOf = (name: string) => rows.find((row) => row.name === name) as Row

function spread(values: readonly number[] | undefined, digits = 1) {
  if (values === undefined) return '–'
  const [lower, middle, upper] = [0.25, 0.5, 0.75].map((part) => quantile(values, part).toFixed(digits))
  return `${middle} (${lower}–${upper})`
}

function times(values: readonly number[] | undefined) {
  const time = median(values ?? [])
  return time >= 1000 ? `${(time / 1000).toFixed(1)} ms` : `${time.toFixed(0)} µs`
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
const percent = (share: number) => `${Math.round(share * 100)} %`
const median = (values: readonly number[]) => quantile(values, 0.5)

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const at = part * (sorted.length - 1)
  const [below, above] = [sorted[Math.floor(at)] as number, sorted[Math.ceil(at)] as number]
  return below + (above - below) * (at - Math.floor(at))
}
