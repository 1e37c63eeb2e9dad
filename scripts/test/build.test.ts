import t from 'tap'
import { entrySources, staleOutput } from '../build.ts'

t.test('bundles and the declarations of removed source files are found, and nothing else', async (t) => {
  const output = { 'kept.d.ts': '', 'kept.d.ts.map': '' }
  const root = t.testdir({
    packages: {
      one: {
        'package.json': '{}',
        src: { 'kept.ts': '', deep: { 'kept.ts': '' } },
        dist: {
          ...output,
          '.tsbuildinfo': '',
          '.tsbuildinfo-test': '',
          'kept.js': '',
          'shared-ABC.js.map': '',
          deep: { ...output, 'gone.d.ts.map': '' }
        }
      },
      unbuilt: { 'package.json': '{}', src: { 'kept.ts': '' } }
    }
  })
  t.strictSame(staleOutput(root), [
    'packages/one/dist/deep/gone.d.ts.map',
    'packages/one/dist/kept.js',
    'packages/one/dist/shared-ABC.js.map'
  ])
})

t.test('the sources of entry points and commands are bundled, and files that are published as they are, are not', async (t) => {
  const exports = { '.': { '@concordat/source': './src/index.ts', default: './dist/index.js' }, './package.json': './package.json' }
  t.strictSame(entrySources({ name: 'one', exports, bin: { one: './dist/commands/one.js' } }), ['./src/index.ts', './src/commands/one.ts'])
  t.strictSame(entrySources({ name: 'one' }), [])
})
