// Stages on npm what release.ts packed, except for versions that are on npm: a maintainer approves each with a second factor. It may use nothing that has
// to be installed: the job that runs it has the identity by which npm trusts the repository. `--direct` publishes immediately, which the first version of a
// package needs, by a maintainer who is signed in. `--names` only prints the names of the tags, `--dry-run` publishes nothing.
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

/** Returns the words of npm for a tarball. A version with a hyphen, such as 1.0.0-rc.1, is not what `npm install` brings. */
export function publication({ version, file }: Omit<Packed, 'name'>, mode: string | undefined): string[] {
  const words = [join(packedFolder, file), '--access', 'public', '--tag', version.includes('-') ? 'next' : 'latest']
  if (mode === '--dry-run') return ['publish', ...words, mode]
  // npm attests the provenance in a workflow only.
  return mode === '--direct' ? ['publish', ...words] : ['stage', 'publish', ...words, '--provenance']
}

async function main() {
  const mode = process.argv.find((word) => word === '--dry-run' || word === '--direct')
  const packages = JSON.parse(readFileSync(join(packedFolder, 'packages.json'), 'utf8')) as readonly Packed[]
  for (const { name, ...packed } of packages) {
    const tag = `${name}@${packed.version}`
    if (process.argv.includes('--names')) {
      console.log(tag)
      continue
    }
    const published = mode === '--dry-run' ? undefined : await run('npm', ['view', tag, 'version'])
    if (published?.code === 0 && published.output.trim() !== '') console.log(`${tag} is published already.`)
    else await must('npm', publication(packed, mode), shown)
  }
}

if (import.meta.main) await main()
