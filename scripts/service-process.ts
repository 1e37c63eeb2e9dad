// A server for a run of the tests, and the installation of its program.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Service {
  readonly url: string
  /** How it was found, for the report. */
  readonly how: string
  stop(): Promise<void>
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

export function temporaryFolder(name: string): string {
  return mkdtempSync(join(tmpdir(), `concordat-${name}-`))
}
