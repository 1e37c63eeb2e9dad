// Installs what the lockfile names, unless it is installed already: `setup.mjs example` installs what the example needs to run,
// `setup.mjs` everything. It runs on Node 18 and later, with built-ins only, because it is the first thing that a fresh clone
// executes.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const stamp = join(root, 'node_modules', '.setup-stamp')
const scope = process.argv[2] === 'example' ? 'example' : 'everything'

const manifests = ['packages', 'examples']
  .filter((folder) => existsSync(join(root, folder)))
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name, 'package.json')))
  .concat(join('test-harness', 'package.json'))
const hash = createHash('sha256')
for (const file of ['package.json', 'pnpm-workspace.yaml', 'pnpm-lock.yaml', ...manifests.sort()]) {
  if (existsSync(join(root, file))) hash.update(file).update(readFileSync(join(root, file)))
}
const wanted = hash.digest('hex')
const [installed, installedScope] = existsSync(stamp) ? readFileSync(stamp, 'utf8').split(' ') : []

if (installed !== wanted || (scope === 'everything' && installedScope !== scope)) {
  console.log(scope === 'example' ? 'Installing what the example needs to run.' : 'Installing everything that tests and checks need.')
  rmSync(stamp, { force: true })
  // pnpm 12 leaves dangling links behind when a dependency moves to another peer; a whole install takes seconds. Where the
  // lockfile is still the same, only packages are added: a service that runs meanwhile keeps those it uses.
  const stale = installed === wanted ? [] : ['.', ...manifests.map((manifest) => dirname(manifest))]
  for (const folder of stale) rmSync(join(root, folder, 'node_modules'), { recursive: true, force: true })
  // The exact version, because npx looks up a range in the registry each time.
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  // pnpm checks the age of every package in the lockfile, for which it loads 225 MB of metadata, mostly about packages that the
  // example does not use. An installation of everything includes that check. The integrity of packages is checked in both.
  const only = scope === 'example' ? ['--prod', '--filter=.', '--filter=orders-service...', '--trust-lockfile'] : []
  // A lockfile alone decides what is installed: --frozen-lockfile refuses to resolve dependencies.
  const install = spawnSync('npx', ['--yes', packageManager, 'install', '--frozen-lockfile', '--reporter=append-only', ...only], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32'
  })
  if (install.status !== 0) {
    console.error('Setup failed: the packages could not be installed. Check the network and that npm works, then try again.')
    process.exit(1)
  }
  writeFileSync(stamp, `${wanted} ${scope}`)
}

// On Linux the packages bring Node 24, and its scripts run on it. Elsewhere they run on the Node that is here.
const [major, minor] = process.versions.node.split('.').map(Number)
if (!existsSync(join(root, 'node_modules', '.bin', 'node')) && (major < 22 || (major === 22 && minor < 19))) {
  console.error(`Node ${process.versions.node} is too old to run this repository here. Install Node 24 and try again.`)
  process.exit(1)
}
