// Checks the coverage of src, and of sample in examples: every line and almost every branch of each package and example.
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseSync } from 'oxc-parser'
import { filesUnder, readMembers } from './workspace.ts'

interface Count {
  readonly total: number
  readonly covered: number
}
/** A coverage summary in the format of istanbul, by absolute file name. */
export type Summary = Readonly<Record<string, { readonly lines: Count; readonly branches: Count }>>

const branchesWanted = 0.95

/**
 * Moves the coverage files that processes wrote to the folder `from`, with NODE_V8_COVERAGE, to the folder `to`. Only the entries of these
 * folders are retained: most entries are about Node.js packages and tests.
 */
export function keepCoverage(root: string, from: string, to: string): void {
  const base = pathToFileURL(root).href
  const isSource = (url: string) => url.startsWith(base) && /^\/?(packages|examples)\/[^/]+\/(src|sample)\//.test(url.slice(base.length))
  for (const file of globSync(join(from, '*.json'))) {
    const { result } = JSON.parse(readFileSync(file, 'utf8')) as { result: { url: string }[] }
    // A second copy of a module, with a query in its URL, is the same source.
    const kept = result.flatMap((script) => (isSource(script.url) ? [{ ...script, url: script.url.replace(/\?.*$/, '') }] : []))
    writeFileSync(join(to, basename(file)), JSON.stringify({ result: kept }))
  }
  rmSync(from, { recursive: true, force: true })
}

/** Returns one sentence for each file or package without enough coverage. */
export function coverageGaps(root: string, summary: Summary): string[] {
  return readMembers(root).flatMap(({ folder, manifest }) => {
    const gaps: string[] = []
    const branches = { total: 0, covered: 0 }
    // A variant for Zod runs in the projects that the tests of create-concordat make, in place of its twin.
    for (const file of filesUnder(root, `${folder}/{src,sample}/**/*.ts`).filter((path) => !path.endsWith('.zod.ts'))) {
      const count = summary[join(root, file)]
      if (count === undefined) {
        if (runs(join(root, file))) gaps.push(`${file} is never loaded by a test`)
        continue
      }
      if (count.lines.covered < count.lines.total)
        gaps.push(`${file} has ${count.lines.total - count.lines.covered} lines that no test runs`)
      branches.total += count.branches.total
      branches.covered += count.branches.covered
    }
    if (branches.covered < branches.total * branchesWanted) {
      gaps.push(`${manifest.name} has ${branches.covered} of ${branches.total} branches covered, less than ${branchesWanted * 100} %`)
    }
    return gaps
  })
}

/** Returns false for a file that has only types, and therefore no code to run. */
function runs(file: string) {
  const { program } = parseSync(file, readFileSync(file, 'utf8'))
  return program.body.some(
    (statement) =>
      !statement.type.startsWith('TS') &&
      !('importKind' in statement && statement.importKind === 'type') &&
      !('exportKind' in statement && statement.exportKind === 'type')
  )
}
