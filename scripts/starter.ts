// Does what a new user does, with packed packages from a registry on this machine: creates a project with `npm create concordat`, starts it, runs its
// tests, adds a resource and a version, and runs the tests again. It needs Node.js and npm, the registry of npm, and no shell syntax, so that a
// workflow runs it on every system: `node scripts/starter.ts <folder of tarballs>`. With `--clone` it starts the example of this clone instead.
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { reachableRegistry, startRegistry } from './local-registry.ts'
import { repository } from './workspace.ts'

const isWindows = process.platform === 'win32'

/** A project that a user creates, and what the user does then, in order. */
interface Tour {
  readonly name: string
  readonly flags: string
  /** A path that a new project responds to with 200. */
  readonly path: string
  readonly commands: readonly string[]
}

const checks = ['npm test', 'npm run check', 'npm run lint']

export const tours: readonly Tour[] = [
  {
    name: 'my-service',
    flags: '--yes',
    path: '/v1/books',
    commands: ['npm test', 'npx concordat add resource reviews', 'npx concordat add version 2', ...checks]
  },
  { name: 'my-shop', flags: '--from orders-service', path: '/v1/products', commands: checks }
]

/** Creates a project in a folder and uses it. `env` has the registry, and decides which Node.js and npm run. Throws at the first failure. */
export async function follow({ name, flags, path, commands }: Tour, place: string, env: NodeJS.ProcessEnv): Promise<void> {
  await execute(`npm create concordat ${name} -- ${flags}`, { cwd: place, env })
  const project = { cwd: join(place, name), env }
  await useStarted(project, path)
  for (const command of commands) await execute(command, project)
}

/**
 * Returns the environment of a new user, whose registry has the packed packages. The cache is in the given place: another one has the packages of
 * former runs, which have the same version. npx asks before it installs, which the user confirms.
 */
export function environmentOf(place: string, registry: string): NodeJS.ProcessEnv {
  const settings = { npm_config_registry: registry, npm_config_cache: join(place, 'npm-cache'), npm_config_yes: 'true' }
  const services = { DATABASE_URL: undefined, REDIS_URL: undefined, TEST_DATABASE_URL: undefined }
  // What a test runner sets is for its own tests.
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('TAP'))
  return { ...Object.fromEntries(own), ...settings, ...services, NODE_OPTIONS: '', PORT: '0' }
}

// npm is a script on Windows, which only a shell can run. All commands are words without meaning for a shell.
function launch(command: string, options: SpawnOptions) {
  return spawn(command, { ...options, shell: true, stdio: ['ignore', 'pipe', 'pipe'], detached: !isWindows })
}

async function execute(command: string, options: SpawnOptions) {
  const begin = performance.now()
  const child = launch(command, options)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (output += data))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${command} ended with code ${code}:\n${output}`)
  console.log(`${command}: ${Math.round((performance.now() - begin) / 1000)} s`)
}

/** Runs `npm start` until the service has responded with 200 to a GET of each path. Returns the bodies. Throws when it does not respond. */
export async function useStarted(options: SpawnOptions, ...paths: readonly string[]): Promise<string[]> {
  const child = launch('npm start', options)
  try {
    const address = await addressOf(child)
    const deadline = performance.now() + 60_000
    // As a load balancer does: on a busy machine, the first check of the database ends after the start.
    while ((await fetch(`${address}/health/ready`)).status !== 200) {
      if (performance.now() > deadline) throw new Error('npm start: /health/ready responded for a minute with another status than 200.')
      await setTimeout(200)
    }
    const bodies: string[] = []
    for (const path of paths) {
      const response = await fetch(address + path)
      if (response.status !== 200) throw new Error(`npm start: ${path} responds with ${response.status}.`)
      bodies.push(await response.text())
    }
    console.log('npm start: responds')
    return bodies
  } finally {
    await stop(child)
  }
}

async function addressOf(child: ChildProcess) {
  let output = ''
  child.stderr?.on('data', (data) => (output += data))
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    output += `${line}\n`
    const address = / at (http:\/\/[\w.:[\]-]+)/.exec(line)?.[1]
    if (address !== undefined) return address
  }
  throw new Error(`npm start did not say where the service is:\n${output}`)
}

/** Stops a command with all its processes. */
async function stop(child: ChildProcess) {
  if (child.exitCode !== null) return
  const closed = once(child, 'close')
  if (isWindows) spawnSync('taskkill', ['/pid', String(child.pid), '/t', '/f'])
  else process.kill(-(child.pid as number), 'SIGTERM')
  child.stdout?.resume()
  await closed
}

async function main() {
  const [folder] = process.argv.slice(2)
  if (folder === '--clone') {
    await useStarted({ cwd: repository, env: { ...process.env, PORT: '0' } }, '/v1/products')
    return
  }
  if (folder === undefined) throw new Error('The folder of the tarballs is missing. Run: node scripts/starter.ts <folder>')
  const tarballs = globSync('*.tgz', { cwd: folder }).map((file) => join(folder, file))
  const upstream = await reachableRegistry()
  if (tarballs.length === 0 || upstream === undefined)
    throw new Error(tarballs.length === 0 ? `${folder} has no tarballs.` : 'This machine cannot reach the registry of npm.')
  const registry = await startRegistry(tarballs, upstream)
  const place = mkdtempSync(join(tmpdir(), 'concordat-starter-'))
  try {
    for (const tour of tours) await follow(tour, place, environmentOf(place, registry.url))
  } finally {
    registry.close()
    rmSync(place, { recursive: true, force: true, maxRetries: 5 })
  }
}

if (import.meta.main) await main()
