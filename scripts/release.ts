// `npm run release`: builds, packs and publishes the packages whose version is not on npm, and tags the commit. It needs npm alone. With
// `--dry-run` nothing is published, and what prevents a release is only listed.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { packAll, publishedMembers, readPublishing } from './packed.ts'
import { run } from './run.ts'
import { filesUnder, type Publishing, repository } from './workspace.ts'

const names = ['@concordat', 'concordat', 'create-concordat']

/** Returns what prevents a release, each with the remedy. */
export function obstaclesTo({ repository: address, ownedNames }: Publishing, env: NodeJS.ProcessEnv): string[] {
  const missing = names.filter((name) => !ownedNames.includes(name))
  return [
    ...(/^https:\/\/[^/]+\/[^/]+\/[^/]+$/.test(address) && !address.endsWith('.git')
      ? []
      : [
          `package.json: publishing.repository is "${address}". Set it to the address of the repository, https://<host>/<owner>/<name> without .git.`
        ]),
    ...missing.map(
      (name) =>
        `package.json: publishing.ownedNames does not contain "${name}". Register ${name.startsWith('@') ? 'the scope' : 'the name'} on npm, then add it.`
    ),
    ...(env['GITHUB_ACTIONS'] === 'true'
      ? []
      : ['npm attests the provenance of packages in a workflow only. Start the workflow "Release".'])
  ]
}

async function must(program: string, words: readonly string[]) {
  const { code } = await run(program, words, { listen: (text) => process.stdout.write(text) })
  if (code !== 0) throw new Error(`${program} ${words.join(' ')} failed with code ${code}.`)
}

async function main() {
  const isDry = process.argv.includes('--dry-run')
  const obstacles = obstaclesTo(readPublishing(), process.env)
  for (const obstacle of obstacles) console.error(obstacle)
  if (obstacles.length > 0 && !isDry) {
    process.exitCode = 1
    return
  }
  for (const file of filesUnder(repository, 'packages/*/package.json'))
    rmSync(join(repository, file, '../dist'), { recursive: true, force: true })
  await must('node', ['scripts/build.ts'])
  const folder = join(repository, '.packed')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  const members = publishedMembers()
  for (const [name, tarball] of await packAll(members, folder)) {
    const version = members.find(({ manifest }) => manifest.name === name)?.manifest.version
    const published = isDry ? undefined : await run('npm', ['view', `${name}@${version}`, 'version'])
    if (published?.code === 0 && published.output.trim() !== '') console.log(`${name}@${version} is published already.`)
    else await must('npm', ['publish', tarball, '--access', 'public', ...(isDry ? ['--dry-run'] : ['--provenance'])])
  }
  if (isDry) return
  await must('npx', ['changeset', 'git-tag'])
  await must('git', ['push', '--tags'])
}

if (import.meta.main) await main()
