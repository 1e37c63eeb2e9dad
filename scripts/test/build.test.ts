import t from 'tap'
import { staleOutput } from '../build.ts'

t.test('the output of removed source files is found, and nothing else', async (t) => {
  const output = { 'kept.js': '', 'kept.js.map': '', 'kept.d.ts': '', 'kept.d.ts.map': '' }
  const root = t.testdir({
    packages: {
      one: {
        'package.json': '{}',
        src: { 'kept.ts': '', deep: { 'kept.ts': '' } },
        dist: { ...output, '.tsbuildinfo': '', '.tsbuildinfo-test': '', 'gone.js': '', deep: { ...output, 'gone.d.ts.map': '' } }
      },
      unbuilt: { 'package.json': '{}', src: { 'kept.ts': '' } }
    }
  })
  t.strictSame(staleOutput(root), ['packages/one/dist/deep/gone.d.ts.map', 'packages/one/dist/gone.js'])
})
