// Starts programs that tests need, each with its own folder and port.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

export interface Service {
  readonly url: string
  /** How it was found, for the report. */
  readonly how: string
  stop(): Promise<void>
}

export interface Start {
  readonly name: string
  readonly url: string
  readonly responds: (url: string) => Promise<boolean>
  /** The folder of its data, which is removed when the service stops. */
  readonly folder: string
  readonly program: string
  readonly words: readonly string[]
  /** The account that runs it, if it is not the caller's. */
  readonly owner: { readonly uid?: number; readonly gid?: number }
  /** The signal that stops it, if it is not `SIGINT`. */
  readonly signal?: NodeJS.Signals
}

/** Starts a program and waits until it responds. */
export async function startProcess({ name, url, responds, folder, program, words, owner, signal = 'SIGINT' }: Start): Promise<Service> {
  const child = spawn(program, words, { ...owner, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  let complaint = ''
  child.stderr.on('data', (data: Buffer) => (complaint += data.toString()))
  const gone = once(child, 'exit').catch(() => {})
  const service: Service = {
    url,
    how: 'started for this run',
    async stop() {
      child.kill(signal)
      await gone
      rmSync(folder, { recursive: true, force: true })
    }
  }
  const deadline = Date.now() + 30_000
  while (!(await responds(url))) {
    if (child.pid === undefined || child.exitCode !== null || Date.now() > deadline) {
      await service.stop()
      throw new Error(`${name} was started with ${program} but does not respond.\n${complaint}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return service
}

/** PostgreSQL refuses to run as root. In that case it gets an unprivileged account, which also owns its folder. */
export function ownerFor(folder: string): Start['owner'] {
  if (process.getuid?.() !== 0) return {}
  const owner = { uid: idOf('-u'), gid: idOf('-g') }
  chownSync(folder, owner.uid, owner.gid)
  return owner
}

/** Returns the path of a program: in PATH, or in folders given as globs, the newest first. */
export function programPath(name: string, folders: readonly string[]): string | undefined {
  const places = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...folders.flatMap((pattern) => globSync(pattern).toSorted().toReversed())
  ]
  return places.map((folder) => join(folder, name)).find((file) => existsSync(file))
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** Installs a package when that is possible without user interaction: as root, on Debian or its derivatives. */
export function installOnDebian(debianPackage: string): boolean {
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return false
  console.log(`Installing ${debianPackage} with apt-get …`)
  return apt('update', '-qq') && apt('install', '-y', '-qq', '--no-install-recommends', debianPackage)
}

function apt(...words: string[]) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return spawnSync('apt-get', words, { stdio: ['ignore', 'ignore', 'inherit'], env }).status === 0
}

function idOf(flag: '-u' | '-g') {
  return Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout || 65_534)
}

export function temporaryFolder(name: string): string {
  return mkdtempSync(join(tmpdir(), `concordat-${name}-`))
}
