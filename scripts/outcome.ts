// Turns the TAP of a test file into lines for people, and counts its assertions.
import type { Readable } from 'node:stream'
import { Parser, type Result } from 'tap-parser'
import type { Ended } from './test-process.ts'

/** What came of one test file. */
export interface Outcome {
  readonly name: string
  readonly seconds: number
  readonly passed: number
  readonly failed: number
  /** Its line, and each failure in full. */
  readonly lines: readonly string[]
}

interface Counts {
  passed: number
  failed: number
}

/** Of one failure; a difference of two long texts has thousands. */
const linesShown = 80
const nothingCounted = 'No assertion was counted. Make each case a test point, or skip the file and say why.'

/**
 * Reads the TAP of a test file until its process has ended. A file that counts no assertion, and gives no reason to skip it, has
 * proved nothing: it fails, as does one whose process fails.
 */
export async function readOutcome(name: string, stdout: Readable, ended: Promise<Ended>): Promise<Outcome> {
  const start = performance.now()
  const counts = { passed: 0, failed: 0 }
  const failures: string[] = []
  const parser = new Parser()
  watch(parser, [], counts, failures)
  await new Promise((resolve, reject) => {
    parser.on('complete', resolve)
    stdout.on('error', reject).pipe(parser)
  })
  const { code, signal } = await ended
  const { ok, plan, bailout } = parser.results ?? { ok: false }
  const failed = (diag: Result['diag']) => fail({ diag }, name, counts, failures)
  const skipped = plan?.skipAll ? plan.skipReason : undefined
  if (counts.failed === 0) {
    if (signal || code) failed({ exitCode: code, signal })
    else if (bailout) failed({ message: `Bail out: ${bailout}` })
    else if (!ok) failed({ message: parser.failures.map(({ tapError }) => tapError ?? 'unknown').join(', ') })
    else if (counts.passed === 0 && failures.length === 0 && !skipped) failed({ message: nothingCounted })
  }
  const seconds = (performance.now() - start) / 1000
  const mark = counts.failed > 0 ? '✗' : '✓'
  const parts = [
    `${mark} ${name}`,
    `${counts.passed} passed${counts.failed > 0 ? `, ${counts.failed} failed` : ''}`,
    ...(skipped ? [`skipped: ${skipped}`] : []),
    shown(seconds)
  ]
  return { name, seconds, ...counts, lines: [parts.join('  '), ...failures] }
}

/** The counts of several files together. */
export function total(outcomes: readonly Outcome[]): Readonly<Counts> {
  const sum = (of: keyof Counts) => outcomes.reduce((count, outcome) => count + outcome[of], 0)
  return { passed: sum('passed'), failed: sum('failed') }
}

/** The lines that name the slowest test files, each with its share of the time of all, and the sum. */
export function slowestFiles(files: readonly Outcome[], most: number): string[] {
  const sum = files.reduce((seconds, file) => seconds + file.seconds, 0)
  const slowest = files.toSorted((one, other) => other.seconds - one.seconds).slice(0, most)
  const share = (seconds: number) => `${((100 * seconds) / (sum || 1)).toFixed(1)} %`
  return [
    `The slowest of ${files.length} test files, which took ${shown(sum)} in sum:`,
    ...slowest.map(({ name, seconds }) => `${shown(seconds).padStart(9)} ${share(seconds).padStart(7)}  ${name}`)
  ]
}

function shown(seconds: number) {
  return `${seconds.toFixed(1)} s`
}

function watch(parser: Parser, path: readonly string[], counts: Counts, failures: string[]) {
  let failedBefore = counts.failed
  parser.on('child', (child: Parser) => {
    failedBefore = counts.failed
    watch(child, [...path, child.name], counts, failures)
  })
  parser.on('assert', (result: Result) => {
    const title = [...path, result.name].join(' › ')
    // The point that closes a subtest counts only when it fails by itself: a timeout or a wrong plan.
    const explained = result.closingTestPoint && (result.ok || counts.failed > failedBefore || result.todo)
    if (explained) return
    if (result.skip || result.todo) failures.push(`    – ${title}: ${result.skip ? 'skipped' : 'to do'}`)
    else if (result.ok) counts.passed++
    else fail(result, title, counts, failures)
  })
}

function fail(result: Pick<Result, 'diag'>, title: string, counts: Counts, failures: string[]) {
  counts.failed++
  const { diff, stack, at, exitCode, signal, expired, failure, message } = result.diag ?? {}
  const where = stack ?? (at?.fileName && `${at.fileName}:${at.lineNumber}:${at.columnNumber}\n`)
  const ended = exitCode || signal ? `the process ended with ${signal ?? `code ${exitCode}`}` : undefined
  const said: string[] = [failure, message, expired && `timed out: ${expired}`, ended, diff, where].filter(Boolean)
  const details = said.flatMap((text) => text.trimEnd().split('\n')).filter((line) => !line.includes('node_modules'))
  failures.push([`    ✗ ${title}`, ...details.slice(0, linesShown).map((line) => `        ${line}`)].join('\n'))
}
