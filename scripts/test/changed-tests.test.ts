import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { changedFiles, testsReached } from '../changed-tests.ts'
import { filesUnder } from '../workspace.ts'

const exports = { '.': { '@concordat/source': './src/index.ts', types: './dist/index.d.ts' } }
const workspace = {
  packages: {
    left: {
      'package.json': JSON.stringify({ name: '@concordat/left', exports }),
      src: { 'index.ts': "export { left } from './left.ts'", 'left.ts': 'export const left = 1', 'alone.ts': '' },
      test: { 'left.test.ts': "import '@concordat/left'", 'helper.ts': '', 'other.test.ts': "import './helper.ts'" }
    },
    right: {
      'package.json': JSON.stringify({ name: '@concordat/right', exports }),
      src: { 'index.ts': "import type { left } from '@concordat/left'" },
      test: { 'right.test.ts': "import '@concordat/right'" }
    }
  },
  scripts: { test: { 'a.test.ts': "import '@concordat/test-harness/until'" } },
  'test-harness': {
    'package.json': JSON.stringify({ name: '@concordat/test-harness', exports: { './until': './src/until.ts' } }),
    src: { 'until.ts': '' }
  }
}

const changes: [title: string, changed: string[], tests: string[], unreached: string[]][] = [
  ['a test file', ['packages/left/test/other.test.ts'], ['packages/left/test/other.test.ts'], []],
  ['a file beside a test', ['packages/left/test/helper.ts'], ['packages/left/test/other.test.ts'], []],
  [
    'a source, also of another package that imports only types',
    ['packages/left/src/left.ts'],
    ['packages/left/test/left.test.ts', 'packages/right/test/right.test.ts'],
    []
  ],
  ['the test harness', ['test-harness/src/until.ts'], ['scripts/test/a.test.ts'], []],
  ['what no test imports', ['packages/left/src/alone.ts', 'README.md'], [], ['packages/left/src/alone.ts', 'README.md']],
  [
    'a deleted file that is still imported',
    ['packages/left/src/index.ts'],
    ['packages/left/test/left.test.ts', 'packages/right/test/right.test.ts'],
    []
  ]
]

for (const [title, changed, tests, unreached] of changes) {
  t.test(`a change reaches the tests that import it: ${title}`, async (t) => {
    const root = t.testdir(workspace)
    if (title.startsWith('a deleted')) rmSync(join(root, changed[0] as string))
    t.strictSame(testsReached(root, filesUnder(root, '**/*.test.ts'), changed), { tests, unreached })
  })
}

t.test('a change of the packages, the compiler options or the test runner may affect every test', async (t) => {
  for (const file of ['package.json', 'packages/left/package.json', 'pnpm-lock.yaml', 'packages/left/tsconfig.json', 'scripts/test.ts'])
    t.equal(testsReached(t.testdir(workspace), [], [file]), undefined, file)
})

t.test('the changed files are those since a commit, or since the branch left main, with the ones that are not committed', async (t) => {
  const root = t.testdir({ 'kept.ts': '', 'moved.ts': 'moved', '.gitignore': 'ignored.ts' })
  const git = (...words: string[]) =>
    t.equal(spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], { cwd: root }).status, 0, String(words[0]))
  git('init', '--initial-branch=main')
  git('add', '.')
  git('commit', '--message=one')
  git('switch', '--create', 'branch')
  git('mv', 'moved.ts', 'new.ts')
  git('commit', '--message=two')
  for (const file of ['kept.ts', 'untracked.ts', 'ignored.ts']) writeFileSync(join(root, file), 'changed')
  t.strictSame(await changedFiles(root), ['kept.ts', 'moved.ts', 'new.ts', 'untracked.ts'])
  t.strictSame(await changedFiles(root, 'HEAD'), ['kept.ts', 'untracked.ts'])
  await t.rejects(changedFiles(root, 'unknown'), { message: /^git diff .* failed: .*unknown/ })
})
