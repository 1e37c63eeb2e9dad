import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const repository = join(import.meta.dirname, '../../..')

/** Returns what the compiler prints about a program in a package, which can import what the package can. */
export function compilerOutput(home: string, source: string, ...options: readonly string[]): string {
  mkdirSync(join(home, '.tap'), { recursive: true })
  const folder = mkdtempSync(join(home, '.tap/program-'))
  try {
    writeFileSync(join(folder, 'program.ts'), source)
    const compilerOptions = { noEmit: true, composite: false, isolatedDeclarations: false, noUnusedLocals: false }
    const base = relative(folder, join(repository, 'tsconfig.json'))
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ extends: base, compilerOptions, include: ['*.ts'], references: [] }))
    // The instrumentation for coverage must not run inside the compiler.
    const command = ['-u', 'NODE_OPTIONS', '-u', 'TAP', process.execPath, join(repository, 'node_modules/typescript/bin/tsc')]
    return spawnSync('env', [...command, '-p', folder, ...options], { cwd: folder, encoding: 'utf8' }).stdout
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns the number of types that the compiler instantiates for such a program, which must compile. */
export function instantiations(home: string, source: string): number {
  const output = compilerOutput(home, source, '--extendedDiagnostics')
  if (output.includes('error TS')) throw new Error(output)
  return Number(/^Instantiations:\s*(\d+)/m.exec(output)?.[1])
}
