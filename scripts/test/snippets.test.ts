import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { compileSnippets, snippetsByHome } from '../check-snippets.ts'
import { repository } from '../workspace.ts'

const fence = '```'

function workspace(t: Test, readme: string) {
  const doors = { '.': { types: './dist/index.d.ts' } }
  const root = t.testdir({
    'README.md': `# All\n${fence}ts\nimport { one } from '@concordat/one'\nimport { two } from '@concordat/two'\nconsole.log(one + two)\n${fence}\n`,
    docs: { api: { 'one.md': `${fence}ts\nnot a program\n${fence}\n` } },
    packages: {
      one: {
        'package.json': JSON.stringify({ name: '@concordat/one', type: 'module', layer: 1, exports: doors }),
        'README.md': readme,
        'CHANGELOG.md': `${fence}ts\nold\n${fence}\n`,
        dist: { 'index.d.ts': 'export declare const one: number' }
      },
      two: {
        'package.json': JSON.stringify({ name: '@concordat/two', type: 'module', layer: 2, exports: doors }),
        dist: { 'index.d.ts': 'export declare const two: number' }
      }
    }
  })
  cpSync(join(repository, 'tsconfig.json'), join(root, 'tsconfig.json'))
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'))
  return root
}

t.test('a snippet belongs to its package, and a snippet of the whole suite to the highest package', async (t) => {
  const homes = snippetsByHome(
    workspace(
      t,
      `${fence}ts\nlet a\n${fence}\n${fence}json\n{}\n${fence}\n~~~ts\nlet b\n~~~\n${fence}ts src/c.ts\nimport './d.ts'\n${fence}\n`
    )
  )
  t.strictSame([...homes.keys()], ['packages/two', 'packages/one'])
  t.strictSame(homes.get('packages/one'), [
    { file: 'packages/one/README.md', line: 2, text: 'let a' },
    { file: 'packages/one/README.md', line: 8, text: 'let b' }
  ])
})

t.test('a snippet of the whole suite belongs to the highest package that has installed what its file imports', async (t) => {
  const root = workspace(t, '')
  const manifest = join(root, 'packages/one/package.json')
  writeFileSync(manifest, JSON.stringify({ ...JSON.parse(readFileSync(manifest, 'utf8')), devDependencies: { fastify: '^5.0.0' } }))
  writeFileSync(join(root, 'docs/use.md'), `${fence}ts\nimport '@concordat/two'\nimport 'node:fs'\nimport 'fastify/plugin'\n${fence}\n`)
  const homes = snippetsByHome(root)
  t.match(homes.get('packages/one'), [{ file: 'docs/use.md' }])
  t.match(homes.get('packages/two'), [{ file: 'README.md' }])
})

t.test('a whole program compiles with all packages of the repository and top-level await', async (t) => {
  const root = workspace(t, `${fence}ts\nimport { two } from '@concordat/two'\nconst unused = await Promise.resolve(two)\n${fence}\n`)
  const homes = snippetsByHome(root)
  t.strictSame(await compileSnippets(root, homes), [])
  for (const home of homes.keys()) t.equal(existsSync(join(root, home, '.snippets')), false)
})

t.test('a snippet that does not compile is reported with its place in the Markdown file', async (t) => {
  const root = workspace(t, `# One\n\n${fence}ts\nimport { one } from '@concordat/one'\n\nconst word: string = one\n${fence}\n`)
  t.match(await compileSnippets(root, snippetsByHome(root)), [
    /^packages\/one\/README\.md:6:7: error TS2322: Type 'number' is not assignable/
  ])
})
