// Coverage of src: every line, and nearly every branch, of each package and example.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { filesUnder, readMembers } from './workspace.ts'

interface Count {
  readonly total: number
  readonly covered: number
}
/** A coverage summary as istanbul writes it: by absolute file name. */
export type Summary = Readonly<Record<string, { readonly lines: Count; readonly branches: Count }>>

const branchesWanted = 0.95

/** One sentence for each file or package that the tests don't cover enough; empty when all is well. */
export function coverageGaps(root: string, summary: Summary): string[] {
  return readMembers(root).flatMap(({ folder, manifest }) => {
    const gaps: string[] = []
    const branches = { total: 0, covered: 0 }
    for (const file of filesUnder(root, `${folder}/src/**/*.ts`)) {
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

/** False for a file of types alone, which leaves nothing to run. */
function runs(file: string) {
  const { program } = parseSync(file, readFileSync(file, 'utf8'))
  return program.body.some(
    (statement) =>
      !statement.type.startsWith('TS') &&
      !('importKind' in statement && statement.importKind === 'type') &&
      !('exportKind' in statement && statement.exportKind === 'type')
  )
}
