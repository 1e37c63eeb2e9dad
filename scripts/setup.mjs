// Installs the packages of the lockfile, unless they are installed already: `setup.mjs example` installs the packages that the example
// needs to run, `setup.mjs` all packages, `setup.mjs docs` those of the example and of the documentation site. It runs on Node 18 and later with built-in modules only, because it is the first thing that a
// fresh clone executes.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const stamp = join(root, 'node_modules', '.setup-stamp')
const scope = ['example', 'docs'].includes(process.argv[2]) ? 'example' : 'everything'

// They start programs, and stop groups of processes, in ways that Windows does not have. The example needs none of that.
if (process.platform === 'win32' && scope === 'everything') {
  console.error('The tests and checks of this repository run on Linux and macOS. On Windows, run them in WSL; npm start works without it.')
  process.exit(1)
}

const manifests = ['packages', 'examples']
  .filter((folder) => existsSync(join(root, folder)))
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name, 'package.json')))
  .concat(join('proofs', 'test-harness', 'package.json'))
const hash = createHash('sha256')
for (const file of ['package.json', 'pnpm-workspace.yaml', 'pnpm-lock.yaml', ...manifests.sort()]) {
  if (existsSync(join(root, file))) hash.update(file).update(readFileSync(join(root, file)))
}
const wanted = hash.digest('hex')
const [installed, installedScope] = existsSync(stamp) ? readFileSync(stamp, 'utf8').split(' ') : []

if (installed !== wanted || (scope === 'everything' && installedScope !== scope)) {
  console.log(scope === 'example' ? 'Installing the packages of the example.' : 'Installing the packages of tests and checks.')
  rmSync(stamp, { force: true })
  // pnpm 12 leaves dangling links behind when a dependency moves to another peer; a full installation takes seconds. When the lockfile
  // has not changed, packages are only added: a service that runs in the meantime keeps the packages that it uses.
  const stale = installed === wanted ? [] : ['.', ...manifests.map((manifest) => dirname(manifest))]
  for (const folder of stale) rmSync(join(root, folder, 'node_modules'), { recursive: true, force: true })
  // pnpm checks the age of every package in the lockfile, for which it loads 225 MB of metadata, mostly about packages that the
  // example does not use. An installation of all packages includes that check. The integrity of packages is checked in both.
  const only = scope === 'example' ? ['--prod', '--filter=.', '--filter=orders-service...', '--trust-lockfile'] : []
  install('.', only)
  writeFileSync(stamp, `${wanted} ${scope}`)
}

// The site has a lockfile of its own, so that no other installation takes longer for it.
const site = join('docs', '.vitepress')
if (process.argv[2] === 'docs') {
  const lockfile = readFileSync(join(root, site, 'pnpm-lock.yaml'), 'utf8')
  const siteStamp = join(root, site, 'node_modules', '.setup-stamp')
  if (!existsSync(siteStamp) || readFileSync(siteStamp, 'utf8') !== lockfile) {
    console.log('Installing the packages of the documentation site.')
    install(site, ['--ignore-workspace', '--ignore-scripts'])
    writeFileSync(siteStamp, lockfile)
  }
}

/** Installs what the lockfile of a folder names, and ends the process if that fails. */
function install(folder, options) {
  // The exact version, because npx looks up a version range in the registry each time.
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  // The lockfile alone determines what is installed: --frozen-lockfile refuses to resolve dependencies.
  const { status } = spawnSync('npx', ['--yes', packageManager, 'install', '--frozen-lockfile', '--reporter=append-only', ...options], {
    cwd: join(root, folder),
    stdio: 'inherit',
    shell: process.platform === 'win32'
  })
  if (status === 0) return
  console.error('Setup failed: the packages could not be installed. Check the network and that npm works, then try again.')
  process.exit(1)
}

// On Linux the packages include Node 24, and the scripts run on it. On other systems, and where it does not run, such as on Alpine Linux, whose C library is
// another one, they run on the installed Node.
const own = join(root, 'node_modules', '.bin', 'node')
if (existsSync(own) && spawnSync(own, ['--version']).status !== 0) rmSync(own)
const [major, minor] = process.versions.node.split('.').map(Number)
if (!existsSync(own) && (major < 22 || (major === 22 && minor < 19))) {
  console.error(`Node ${process.versions.node} is too old for this repository. Install Node 24 and try again.`)
  process.exit(1)
}
