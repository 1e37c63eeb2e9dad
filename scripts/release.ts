// `npm run release`: builds and packs the packages, for publish.ts. It needs npm alone. With `--dry-run` it also shows what would be published, and what
// prevents a release is only listed.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { packAll, publishedMembers, readPublishing } from './packed.ts'
import { packedFolder, shown } from './publish.ts'
import { must } from './run.ts'
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
  await must('node', ['scripts/build.ts'], shown)
  rmSync(packedFolder, { recursive: true, force: true })
  mkdirSync(packedFolder)
  const members = publishedMembers()
  const tarballs = await packAll(members, packedFolder)
  const packed = members.map(({ manifest: { name, version } }) => ({ name, version, file: basename(tarballs.get(name) as string) }))
  writeFileSync(join(packedFolder, 'packages.json'), JSON.stringify(packed))
  if (isDry) await must('node', ['scripts/publish.ts', '--dry-run'], shown)
}

if (import.meta.main) await main()
