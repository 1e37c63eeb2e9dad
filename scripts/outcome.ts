// Turns the TAP of test files into lines for people, and counts their assertions.
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
 * Reads the TAP of test files, which are the outermost subtests, until their process has ended. A file that counts no assertion, and gives
 * no reason to skip it, has proved nothing: it fails. If the process fails, so do the file that it ended in and those after it.
 */
export async function readOutcomes(names: readonly string[], stdout: Readable, ended: Promise<Ended>): Promise<Outcome[]> {
  const files = new Map(names.map((name) => [name, new TestFile(name)]))
  let last = files.get(names[0] as string) as TestFile
  const parser = new Parser()
  parser.on('child', (tap: Parser) => {
    last = files.get(tap.name) ?? last
    last.read(tap)
  })
  parser.on('assert', (point: Result) => (files.get(point.name) ?? last).end(point))
  await new Promise((resolve, reject) => {
    parser.on('complete', resolve)
    stdout.on('error', reject).pipe(parser)
  })
  const { code, signal } = await ended
  const { ok, bailout } = parser.results ?? { ok: false }
  const isGreen = () => total([...files.values()]).failed === 0
  if (isGreen() && (signal || code)) last.fail({ exitCode: code, signal })
  if (isGreen() && bailout) last.fail({ message: `Bail out: ${bailout}` })
  for (const file of files.values()) file.complete()
  if (isGreen() && !ok) last.fail({ message: messages(parser) })
  return [...files.values()].map((file) => file.outcome())
}

class TestFile implements Counts {
  passed = 0
  failed = 0
  readonly #name: string
  readonly #failures: string[] = []
  #tap: Parser | undefined
  #seconds = 0

  constructor(name: string) {
    this.#name = name
  }

  read(tap: Parser) {
    this.#tap = tap
    watch(tap, [], this, this.#failures)
  }

  /** What fails outside all tests of the file is its failure too. */
  end(point: Result) {
    this.#seconds += (point.time ?? 0) / 1000
    if (!point.ok && this.failed === 0) fail(point, point.name, this, this.#failures)
  }

  complete() {
    const { ok, plan } = this.#tap?.results ?? {}
    if (this.failed > 0) return
    if (this.#tap === undefined) this.fail({ message: 'The process ended before it.' })
    else if (!ok) this.fail({ message: messages(this.#tap) })
    else if (this.passed === 0 && this.#failures.length === 0 && !plan?.skipReason) this.fail({ message: nothingCounted })
  }

  fail(diag: Result['diag']) {
    fail({ diag }, this.#name, this, this.#failures)
  }

  outcome(): Outcome {
    const { passed, failed } = this
    const plan = this.#tap?.results?.plan
    const parts = [
      `${failed > 0 ? '✗' : '✓'} ${this.#name}`,
      `${passed} passed${failed > 0 ? `, ${failed} failed` : ''}`,
      ...(plan?.skipReason ? [`skipped: ${plan.skipReason}`] : []),
      shown(this.#seconds)
    ]
    return { name: this.#name, seconds: this.#seconds, passed, failed, lines: [parts.join('  '), ...this.#failures] }
  }
}

/** The counts of several files together. */
export function total(outcomes: readonly Counts[]): Readonly<Counts> {
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

function messages({ failures }: Parser) {
  return failures.map(({ tapError }) => tapError ?? 'unknown').join(', ')
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
