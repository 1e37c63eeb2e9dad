// Installs what the lockfile says, when it has not been installed yet. Runs on Node 18 and later, with built-ins only,
// because it is the first thing that a fresh clone executes.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const stamp = join(root, 'node_modules', '.setup-stamp')

const manifests = ['packages', 'examples']
  .filter((folder) => existsSync(join(root, folder)))
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name, 'package.json')))
const hash = createHash('sha256')
for (const file of ['package.json', 'pnpm-workspace.yaml', 'pnpm-lock.yaml', ...manifests.sort()]) {
  if (existsSync(join(root, file))) hash.update(file).update(readFileSync(join(root, file)))
}
const wanted = hash.digest('hex')

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  // A lockfile alone decides what is installed: --frozen-lockfile refuses to resolve anything anew.
  const install = spawnSync('npx', ['--yes', 'pnpm@12', 'install', '--frozen-lockfile', '--reporter=append-only'], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32'
  })
  if (install.status !== 0) {
    console.error('Setup failed: the packages could not be installed. Check the network and that npm works, then try again.')
    process.exit(1)
  }
  writeFileSync(stamp, wanted)
}

// On Linux the packages bring Node 24, and its scripts run on it. Elsewhere they run on the Node that is here.
const [major, minor] = process.versions.node.split('.').map(Number)
if (!existsSync(join(root, 'node_modules', '.bin', 'node')) && (major < 22 || (major === 22 && minor < 19))) {
  console.error(`Node ${process.versions.node} is too old to run this repository here. Install Node 24 and try again.`)
  process.exit(1)
}
