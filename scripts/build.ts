// `pnpm build`: checks and declares every project, and bundles each package. An entry point becomes one file, next to files with the code
// that entry points share, because Node.js takes about half a millisecond for each file that it imports. A package publishes its whole
// dist folder, so the output of earlier builds is removed.
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { copyExamples } from './copied-examples.ts'
import { run } from './run.ts'
import { entryFiles, filesUnder, type Manifest, type Member, readMembers, repository } from './workspace.ts'

/**
 * Returns the files in dist folders that a new build may not write again, from the root: all bundles, and the declarations of files that
 * are not in src. The compiler's own records are excluded.
 */
export function staleOutput(root: string): string[] {
  return readMembers(root).flatMap(({ folder }) =>
    filesUnder(join(root, folder, 'dist'), '**/*.*')
      .filter((file) => !file.startsWith('.tsbuildinfo') && !existsSync(join(root, folder, 'src', sourceOf(file))))
      .map((file) => `${folder}/dist/${file}`)
  )
}

// A bundle has no source of its own.
function sourceOf(file: string) {
  return file.replace(/\.d\.ts(\.map)?$/, '.ts')
}

/** Returns the sources of the files that a package publishes under a name: its entry points and its commands. */
export function entrySources(manifest: Manifest): string[] {
  const commands = Object.values(manifest.bin ?? {}).map((file) => file.replace('./dist/', './src/').replace(/\.js$/, '.ts'))
  return [...entryFiles(manifest, '@concordat/source').map(([, file]) => file), ...commands]
}

async function bundle({ folder, manifest }: Member) {
  await build({
    absWorkingDir: join(repository, folder),
    entryPoints: entrySources(manifest),
    outbase: 'src',
    outdir: 'dist',
    bundle: true,
    packages: 'external',
    splitting: true,
    chunkNames: 'shared-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node22',
    sourcemap: true,
    // The sources are in the package.
    sourcesContent: false,
    logLevel: 'warning'
  })
}

if (import.meta.main) {
  for (const file of staleOutput(repository)) rmSync(join(repository, file))
  // With several checkers, each of them would check the types that the files of a project have in common.
  const { code, output } = await run('tsc', ['-b', '--checkers', '1'])
  process.stdout.write(output)
  process.exitCode = code
  if (code === 0) {
    for (const member of readMembers(repository)) if (member.folder.startsWith('packages/')) await bundle(member)
    copyExamples()
  }
}
