// Writes the page that records the last run of the long tier.
import { execFileSync } from 'node:child_process'
import { cpus, loadavg } from 'node:os'
import { type Outcome, total } from './outcome.ts'
import { repository } from './workspace.ts'

/** The path of the page, from the root. */
export const longRunLog = 'docs/long-run.md'

/** Returns the page: date, environment and result of the run, then each file with its time, the slowest first. */
export function longRunPage(files: readonly Outcome[], seconds: number, notes: readonly string[]): string {
  const { passed, failed } = total(files)
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: repository, encoding: 'utf8' }).trim()
  const rows = files
    .toSorted((one, other) => other.seconds - one.seconds)
    .map((file) => `| ${file.name} | ${file.seconds.toFixed(1)} | ${file.passed} | ${file.failed} |`)
  return `# The last run of the long tier

Written by \`pnpm test:long\`; [testing](testing.md) describes the tests.

- ${new Date().toISOString().slice(0, 10)}, commit ${commit}, Node.js ${process.versions.node}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)} at its end
- ${passed} passed, ${failed} failed, ${Math.round(seconds / 60)} minutes
${notes.map((note) => `- ${note}\n`).join('')}
| file | seconds | passed | failed |
|---|---|---|---|
${rows.join('\n')}
`
}
