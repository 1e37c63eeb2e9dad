// Turns the TAP of a run into lines for people, and counts its assertions.
import type { Readable } from 'node:stream'
import { Parser, type Result } from 'tap-parser'

export interface Outcome {
  passed: number
  failed: number
  /** The test files, in the order in which they ended. */
  readonly files: FileOutcome[]
}

/** One test file. */
export interface FileOutcome {
  readonly name: string
  readonly seconds: number
  readonly passed: number
  readonly failed: number
}

type Counts = Pick<Outcome, 'passed' | 'failed'>

/** Of one failure; a difference of two long texts has thousands. */
const linesShown = 80
const nothingCounted = 'No assertion was counted. Make each case a test point, or skip the file and say why.'

/**
 * Prints one line a test file as it ends, with each failure in full, and counts the assertions of the whole run. A file that counts
 * none, and gives no reason to skip it, has proved nothing: it fails.
 */
export async function readOutcome(stream: Readable, print: (line: string) => void): Promise<Outcome> {
  const total: Outcome = { passed: 0, failed: 0, files: [] }
  const parser = new Parser()
  parser.on('child', (file: Parser) => {
    const before = { ...total }
    const failures: string[] = []
    watch(file, [], total, failures)
    parser.once('assert', (result: Result) => {
      settle(result, file.name, total.failed > before.failed, total, failures)
      const passed = total.passed - before.passed
      if (passed === 0 && failures.length === 0 && !result.skip) fail({ diag: { message: nothingCounted } }, file.name, total, failures)
      const failed = total.failed - before.failed
      const seconds = (result.time ?? 0) / 1000
      total.files.push({ name: file.name, seconds, passed, failed })
      const skipped = result.skip ? `  skipped: ${result.skip}` : ''
      print(
        `${failed > 0 ? '✗' : '✓'} ${file.name}  ${passed} passed${failed > 0 ? `, ${failed} failed` : ''}${skipped}  ${shown(seconds)}`
      )
      for (const failure of failures) print(failure)
    })
  })
  await new Promise((resolve, reject) => {
    parser.on('complete', resolve)
    stream.on('error', reject).pipe(parser)
  })
  if (!parser.ok && total.failed === 0) {
    total.failed = 1
    print(`✗ the run itself failed: ${parser.bailedOut || parser.failures.map((failure) => failure.tapError ?? 'unknown').join(', ')}`)
  }
  return total
}

/** The outcome of two runs. */
export function joined(one: Outcome, other: Outcome): Outcome {
  return { passed: one.passed + other.passed, failed: one.failed + other.failed, files: [...one.files, ...other.files] }
}

/** The lines that name the slowest test files, each with its share of the time of all, and the sum. */
export function slowestFiles(files: readonly FileOutcome[], most: number): string[] {
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

function watch(parser: Parser, path: readonly string[], total: Counts, failures: string[]) {
  let failedBefore = total.failed
  parser.on('child', (child: Parser) => {
    failedBefore = total.failed
    watch(child, [...path, child.name], total, failures)
  })
  parser.on('assert', (result: Result) => {
    const title = [...path, result.name].join(' › ')
    if (result.closingTestPoint) settle(result, title, total.failed > failedBefore, total, failures)
    else if (result.skip || result.todo) failures.push(`    – ${title}: ${result.skip ? 'skipped' : 'to do'}`)
    else if (result.ok) total.passed++
    else fail(result, title, total, failures)
  })
}

/** The point that closes a subtest counts only when it fails by itself: a timeout, a wrong plan, a process that died. */
function settle(result: Result, title: string, explained: boolean, total: Counts, failures: string[]) {
  if (!result.ok && !explained && !result.todo) fail(result, title, total, failures)
}

function fail(result: Pick<Result, 'diag'>, title: string, total: Counts, failures: string[]) {
  total.failed++
  const { diff, stack, at, exitCode, signal, expired, failure, message } = result.diag ?? {}
  const where = stack ?? (at?.fileName && `${at.fileName}:${at.lineNumber}:${at.columnNumber}\n`)
  const ended = exitCode || signal ? `the process ended with ${signal ?? `code ${exitCode}`}` : undefined
  const said: string[] = [failure, message, expired && `timed out: ${expired}`, ended, diff, where].filter(Boolean)
  const details = said.flatMap((text) => text.trimEnd().split('\n')).filter((line) => !line.includes('node_modules'))
  failures.push([`    ✗ ${title}`, ...details.slice(0, linesShown).map((line) => `        ${line}`)].join('\n'))
}
