// A release from its changesets to a new project, with a registry on this machine: nothing reaches npm.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { type LocalRegistry, reachableRegistry, startRegistry } from '../local-registry.ts'
import { publishedMembers } from '../packed.ts'
import { must, pnpm } from '../run.ts'
import { environmentOf, follow } from '../starter.ts'
import { type Member, repository } from '../workspace.ts'

t.setTimeout(0)

const upstream = await reachableRegistry()
const skip = upstream === undefined && 'this machine cannot reach the registry of npm'
const place = mkdtempSync(join(tmpdir(), 'concordat-release-'))
const checkout = join(place, 'checkout')
const git = (...words: string[]) => execFileSync('git', words, { cwd: repository, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
let registry: LocalRegistry
let members: readonly Member[]
let env: NodeJS.ProcessEnv
t.teardown(() => {
  registry?.close()
  if (existsSync(checkout)) git('worktree', 'remove', '--force', checkout)
  rmSync(place, { recursive: true, force: true, maxRetries: 5 })
})

t.test('changesets raise the version of every package together, and write the changelogs', { skip }, async (t) => {
  git('worktree', 'add', '--quiet', '--detach', checkout, 'HEAD')
  await pnpm(['install', '--frozen-lockfile', '--prefer-offline', '--ignore-scripts'], { cwd: checkout })
  await must(join(checkout, 'node_modules/.bin/changeset'), ['version'], { cwd: checkout })
  members = publishedMembers(checkout)
  t.ok(members.length > 25)
  const versions = new Set(members.map(({ manifest }) => manifest.version))
  t.strictSame([...versions], ['0.1.0'], 'a package that the changeset leaves out would have another')
  for (const { folder, manifest } of members)
    t.match(readFileSync(join(checkout, folder, 'CHANGELOG.md'), 'utf8'), `# ${manifest.name}\n\n## ${manifest.version}\n`)
})

t.test('the release builds, packs and publishes each package once, as the latest version', { skip }, async (t) => {
  const file = join(checkout, 'package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  const publishing = { ...manifest.publishing, repository: 'https://host.example/owner/name' }
  publishing.ownedNames = ['@concordat', 'concordat', 'create-concordat']
  writeFileSync(file, JSON.stringify({ ...manifest, publishing }))
  await must('node', ['scripts/release.ts'], { cwd: checkout, env: { ...process.env, GITHUB_ACTIONS: 'true' } })

  registry = await startRegistry([], String(upstream))
  env = environmentOf(place, registry.url)
  // npm publishes only for a user, also to a registry that knows none.
  writeFileSync(join(place, 'npmrc'), `${registry.url.replace('http:', '')}:_authToken=rehearsal\n`)
  const publish = () =>
    must('node', ['scripts/publish.ts', '--direct'], { cwd: checkout, env: { ...env, npm_config_userconfig: join(place, 'npmrc') } })
  const { output } = await publish()
  const tags = members.map(({ manifest: { name, version } }) => `${name}@${version}`)
  for (const tag of tags) t.ok(output.includes(`+ ${tag}\n`), tag)
  for (const { folder, manifest } of members) {
    const response = await fetch(registry.url + manifest.name.replace('/', '%2f'))
    const { 'dist-tags': distTags, versions } = (await response.json()) as Packument
    t.strictSame(distTags, { latest: manifest.version })
    // npm refuses the provenance of a package that names another repository than that of its workflow.
    t.match(versions[String(manifest.version)], {
      publishConfig: { access: 'public' },
      repository: { url: 'git+https://host.example/owner/name.git', directory: folder }
    })
  }
  const { output: again } = await publish()
  t.strictSame(
    again.trim().split('\n'),
    tags.map((tag) => `${tag} is published already.`)
  )
})

interface Packument {
  readonly 'dist-tags': object
  readonly versions: Readonly<Record<string, object>>
}

const service = `import conventions, { serverOptions } from '@concordat/conventions'
import Fastify from 'fastify'
const local = { compression: false, transportSecurity: { dangerouslyAllowHttp: true } }
const app = Fastify(serverOptions())
await app.register(conventions, { publicUrl: 'https://api.example.com', versions: { 1: {} }, authentication: false, ...local })
const { statusCode } = await app.inject({ url: '/nowhere', headers: { host: 'api.example.com' } })
console.log('status', statusCode)
await app.close()
`

t.test('an empty project installs each package, and runs the preset', { skip }, async (t) => {
  for (const { manifest } of members) {
    const cwd = mkdtempSync(join(place, 'empty-'))
    writeFileSync(join(cwd, 'package.json'), '{"type":"module"}')
    await must('npm', ['install', manifest.name, 'fastify@5', '--prefer-offline', '--no-audit', '--no-fund'], { cwd, env })
    const { dependencies } = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'))
    t.equal(dependencies[manifest.name], `^${manifest.version}`)
    if (manifest.name === '@concordat/conventions') {
      writeFileSync(join(cwd, 'service.js'), service)
      t.match((await must('node', ['service.js'], { cwd, env })).output, 'status 404')
    }
    rmSync(cwd, { recursive: true, force: true })
  }
})

t.test('npm create concordat makes a project from there, which starts, and whose tests run', { skip }, async (t) => {
  const home = join(place, 'home')
  mkdirSync(home)
  await follow(
    { name: 'my-service', flags: '--yes --schema typebox-1', path: '/v1/books', commands: ['npm test', 'npm run check'] },
    home,
    env
  )
  const { dependencies } = JSON.parse(readFileSync(join(home, 'my-service/package.json'), 'utf8'))
  t.equal(dependencies['@concordat/conventions'], '^0.1.0')
})
