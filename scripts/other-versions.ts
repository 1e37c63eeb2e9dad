// Runs test files with other versions of packages or of Node.js than those of the lockfile, which npm installs in a folder.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeOptions } from '@concordat/test-harness/child'
import { must, type Ran, type RunOptions, run } from './run.ts'
import { repository } from './workspace.ts'

/** Installs packages in a folder, by name and version, as `npm install` in a new project does. */
export async function installVersions(folder: string, dependencies: Readonly<Record<string, string>>): Promise<void> {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  await must('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: folder })
}

/** Runs test files one after the other in one process whose modules get the packages that are installed in a folder. */
export function testWith(folder: string, files: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const preload = join(import.meta.dirname, 'other-versions.mjs')
  const words = [...nodeOptions, '--no-warnings', `--import=${preload}`, join(import.meta.dirname, 'test-files.ts'), ...files]
  const env = { ...process.env, NODE_OPTIONS: '', TAP_TIMEOUT: '240', OTHER_VERSIONS: folder }
  return run(process.execPath, words, { cwd: repository, env, ...options })
}

/** Returns the lines of an output of tap that name what failed, or all of another output. */
export function failuresIn(output: string): string {
  const lines = output.split('\n').filter((line) => /^ *not ok /.test(line))
  return lines.length === 0 ? output : lines.join('\n')
}
