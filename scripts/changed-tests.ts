// The test files that a change reaches through imports, for `npm test -- --changed [ref]`.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { followImports } from './reached-modules.ts'
import { run } from './run.ts'
import { readManifest, readMembers } from './workspace.ts'

/** What a change means for the tests. */
export interface Reached {
  /** The test files that are changed, or that import a changed file, themselves or through others. */
  readonly tests: readonly string[]
  /** The changed files that no test reaches. */
  readonly unreached: readonly string[]
}

// A change of these may change how every test runs.
const affectsAll = /(^|\/)(package|tsconfig)\.json$|^pnpm-(lock|workspace)\.yaml$|^scripts\/test[^/]*\.ts$/

/**
 * Returns the files that differ from a commit, also deleted ones and those that Git does not know yet. The default is the commit at which
 * the branch left `main`. Throws when Git does not know the commit.
 */
export async function changedFiles(root: string, ref?: string): Promise<string[]> {
  const git = async (...words: string[]) => {
    const { code, output } = await run('git', words, { cwd: root })
    if (code !== 0) throw new Error(`git ${words.join(' ')} failed: ${output.trim()}`)
    return output.split('\n').filter((line) => line !== '')
  }
  const [base = ''] = ref === undefined ? await git('merge-base', 'main', 'HEAD') : [ref]
  return [...(await git('diff', '--name-only', '--no-renames', base, '--')), ...(await git('ls-files', '--others', '--exclude-standard'))]
}

/** Returns which of the test files a change reaches; `undefined` when it may affect all of them. */
export function testsReached(root: string, tests: readonly string[], changed: readonly string[]): Reached | undefined {
  if (changed.some((file) => affectsAll.test(file))) return undefined
  const harness = join(root, 'test-harness/package.json')
  const projects = [...readMembers(root), ...(existsSync(harness) ? [{ folder: 'test-harness', manifest: readManifest(harness) }] : [])]
  const waysFrom = followImports(root, projects)
  const unreached = new Set(changed)
  return {
    tests: tests.filter((test) => {
      const ways = waysFrom(test)
      const found = changed.filter((file) => ways.has(file))
      for (const file of found) unreached.delete(file)
      return found.length > 0
    }),
    unreached: [...unreached]
  }
}
