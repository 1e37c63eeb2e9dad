// Turns the TAP of a run into lines for people, and counts its assertions.
import type { Readable } from 'node:stream'
import { Parser, type Result } from 'tap-parser'

export interface Outcome {
  passed: number
  failed: number
}

/** Of one failure; a difference of two long texts has thousands. */
const linesShown = 80

/** Prints one line a test file as it ends, with each failure in full, and counts the assertions of the whole run. */
export async function readOutcome(stream: Readable, print: (line: string) => void): Promise<Outcome> {
  const total: Outcome = { passed: 0, failed: 0 }
  const parser = new Parser()
  parser.on('child', (file: Parser) => {
    const before = { ...total }
    const failures: string[] = []
    watch(file, [], total, failures)
    parser.once('assert', (result: Result) => {
      settle(result, file.name, total.failed > before.failed, total, failures)
      const failed = total.failed - before.failed
      const skipped = result.skip ? `  skipped: ${result.skip}` : ''
      print(
        `${failed > 0 ? '✗' : '✓'} ${file.name}  ${total.passed - before.passed} passed${failed > 0 ? `, ${failed} failed` : ''}${skipped}`
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

function watch(parser: Parser, path: readonly string[], total: Outcome, failures: string[]) {
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
function settle(result: Result, title: string, explained: boolean, total: Outcome, failures: string[]) {
  if (!result.ok && !explained && !result.todo) fail(result, title, total, failures)
}

function fail(result: Result, title: string, total: Outcome, failures: string[]) {
  total.failed++
  const { diff, stack, at, exitCode, signal, expired, failure, message } = result.diag ?? {}
  const where = stack ?? (at?.fileName && `${at.fileName}:${at.lineNumber}:${at.columnNumber}\n`)
  const ended = exitCode || signal ? `the process ended with ${signal ?? `code ${exitCode}`}` : undefined
  const said: string[] = [failure, message, expired && `timed out: ${expired}`, ended, diff, where].filter(Boolean)
  const details = said.flatMap((text) => text.trimEnd().split('\n')).filter((line) => !line.includes('node_modules'))
  failures.push([`    ✗ ${title}`, ...details.slice(0, linesShown).map((line) => `        ${line}`)].join('\n'))
}
