// Publishes what release.ts packed, except for versions that are on npm. It may use nothing that has to be installed: the job that runs it has the
// identity by which npm trusts the repository. `--names` only prints the names of the tags, `--dry-run` publishes nothing.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { must, type RunOptions, run } from './run.ts'
import { repository } from './workspace.ts'

/** The folder of the packed packages, with their list in `packages.json`. */
export const packedFolder: string = join(repository, '.packed')

interface Packed {
  readonly name: string
  readonly version: string
  readonly file: string
}

/** Options of {@link must} that show the output. */
export const shown: RunOptions = { listen: (text) => process.stdout.write(text) }

async function main() {
  const isDry = process.argv.includes('--dry-run')
  const packages = JSON.parse(readFileSync(join(packedFolder, 'packages.json'), 'utf8')) as readonly Packed[]
  for (const { name, version, file } of packages) {
    const tag = `${name}@${version}`
    if (process.argv.includes('--names')) {
      console.log(tag)
      continue
    }
    const published = isDry ? undefined : await run('npm', ['view', tag, 'version'])
    if (published?.code === 0 && published.output.trim() !== '') console.log(`${tag} is published already.`)
    else
      await must('npm', ['publish', join(packedFolder, file), '--access', 'public', ...(isDry ? ['--dry-run'] : ['--provenance'])], shown)
  }
}

if (import.meta.main) await main()
