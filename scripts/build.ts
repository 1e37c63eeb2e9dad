// `pnpm build`: compiles every project. A package publishes its whole dist folder, so the output of an earlier build for a source file
// that was deleted or renamed is removed first.
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './run.ts'
import { filesUnder, readMembers, repository } from './workspace.ts'

/** Returns the files in dist folders that no file of src compiles to, from the root, without the compiler's own records. */
export function staleOutput(root: string): string[] {
  return readMembers(root).flatMap(({ folder }) =>
    filesUnder(join(root, folder, 'dist'), '**/*.*')
      .filter((file) => !file.startsWith('.tsbuildinfo') && !existsSync(join(root, folder, 'src', sourceOf(file))))
      .map((file) => `${folder}/dist/${file}`)
  )
}

function sourceOf(file: string) {
  return file.replace(/(\.d)?\.[jt]s(\.map)?$/, '.ts')
}

if (import.meta.main) {
  for (const file of staleOutput(repository)) rmSync(join(repository, file))
  // With several checkers, each of them would check the types that the files of a project have in common.
  const { code, output } = await run('tsc', ['-b', '--checkers', '1'])
  process.stdout.write(output)
  process.exitCode = code
}
