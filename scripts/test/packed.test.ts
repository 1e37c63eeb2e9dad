import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { linksOf } from '../markdown.ts'
import { packedManifest, packedReadme, publishedMembers } from '../packed.ts'
import { publication } from '../publish.ts'
import { obstaclesTo } from '../release.ts'
import { repository } from '../workspace.ts'

const address = 'https://host.example/owner/name'

t.test('every link of every packed README is absolute, and leads to a file of the repository, or to a package on npm', async (t) => {
  const names = publishedMembers().map(({ manifest }) => `https://www.npmjs.com/package/${manifest.name}`)
  for (const { folder } of publishedMembers()) {
    const text = readFileSync(join(repository, folder, 'README.md'), 'utf8')
    for (const { target, line } of linksOf(packedReadme(text, folder, address))) {
      const [, path] = /^https:\/\/host\.example\/owner\/name\/(?:blob|tree|raw)\/HEAD\/([^#]+)/.exec(target) ?? []
      if (path === undefined) t.match(target, /^(https:\/\/|#)/, `${folder}/README.md:${line}`)
      else t.ok(existsSync(join(repository, path)), `${folder}/README.md:${line} ${target}`)
    }
    for (const { target, line } of linksOf(packedReadme(text, folder, ''))) {
      t.match(target, /^(https:\/\/|#)/, `${folder}/README.md:${line}, while the address is unknown`)
      if (target.includes('npmjs.com')) t.ok(names.includes(target.replace(/#.*/, '')), `${folder}/README.md:${line} ${target}`)
    }
  }
})

t.test('links to files, folders and images differ, and code is left as it is', async (t) => {
  const root = t.testdir({ packages: { a: {}, b: { 'b.png': '', 'b.md': '', 'package.json': '{ "name": "@concordat/b" }' } } })
  const text = '[a](../b) [b](../b/b.md#x) ![c](../b/b.png) [d](#own) [e](https://example.com) [g](../b/README.md#g)'
  writeFileSync(join(root, 'packages/b/README.md'), '')
  t.equal(
    packedReadme(`${text}\n[f]: ../b`, 'packages/a', address, root),
    `[a](${address}/tree/HEAD/packages/b) [b](${address}/blob/HEAD/packages/b/b.md#x) ![c](${address}/raw/HEAD/packages/b/b.png) [d](#own) [e](https://example.com) [g](${address}/blob/HEAD/packages/b/README.md#g)\n[f]: ${address}/tree/HEAD/packages/b`
  )
  const npm = 'https://www.npmjs.com/package/@concordat/b'
  t.equal(
    packedReadme(text, 'packages/a', '', root),
    `[a](${npm}) b c [d](#own) [e](https://example.com) [g](${npm}#g)`,
    'while the address is unknown'
  )
})

t.test('a packed package.json names the repository, and has no fields that only the repository reads', async (t) => {
  const manifest = {
    name: '@concordat/rate-limiting',
    layer: 2,
    alone: {},
    devDependencies: { tap: '1' },
    dependencies: { a: '1' }
  } as const
  const publishing = { repository: address, ownedNames: [], keywords: ['fastify', 'rate'] }
  t.strictSame(packedManifest(manifest, 'packages/rate-limiting', publishing), {
    name: '@concordat/rate-limiting',
    dependencies: { a: '1' },
    keywords: ['fastify', 'rate', 'limiting'],
    repository: { type: 'git', url: `git+${address}.git`, directory: 'packages/rate-limiting' },
    homepage: `${address}/tree/HEAD/packages/rate-limiting#readme`,
    bugs: `${address}/issues`
  })
  t.notHas(packedManifest(manifest, 'packages/rate-limiting', { ...publishing, repository: '' }), { repository: {} })
})

t.test('a release stops until the address is set, every name is owned, and a workflow attests the provenance', async (t) => {
  const owned = ['@concordat', 'concordat', 'create-concordat']
  const workflow = { GITHUB_ACTIONS: 'true' }
  t.strictSame(obstaclesTo({ repository: address, ownedNames: owned, keywords: [] }, workflow), [])
  t.strictSame(obstaclesTo({ repository: '', ownedNames: ['concordat'], keywords: [] }, {}), [
    'package.json: publishing.repository is "". Set it to the address of the repository, https://<host>/<owner>/<name> without .git.',
    'package.json: publishing.ownedNames does not contain "@concordat". Register the scope on npm, then add it.',
    'package.json: publishing.ownedNames does not contain "create-concordat". Register the name on npm, then add it.',
    'npm attests the provenance of packages in a workflow only. Start the workflow "Release".'
  ])
  t.match(obstaclesTo({ repository: `${address}.git`, ownedNames: owned, keywords: [] }, workflow), [/without \.git/])
})

function words(version: string, mode?: string) {
  return publication({ version, file: 'a.tgz' }, mode).filter((word) => !word.endsWith('a.tgz'))
}

t.test(
  'a workflow stages packages with their provenance for the approval of a maintainer; only a maintainer publishes directly',
  async (t) => {
    const open = ['--access', 'public', '--tag']
    t.strictSame(words('1.0.0'), ['stage', 'publish', ...open, 'latest', '--provenance'])
    t.strictSame(words('1.0.0-rc.1'), ['stage', 'publish', ...open, 'next', '--provenance'])
    t.strictSame(words('1.0.0', '--direct'), ['publish', ...open, 'latest'])
    t.strictSame(words('1.0.0', '--dry-run'), ['publish', ...open, 'latest', '--dry-run'])
  }
)
