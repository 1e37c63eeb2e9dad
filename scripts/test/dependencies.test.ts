import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { dependenciesOf, findingsIn, pageOf } from '../check-dependencies.ts'

function installed(t: Test, manifest: object, ...files: string[]) {
  const folder = t.testdir({})
  mkdirSync(folder, { recursive: true })
  for (const file of files) writeFileSync(join(folder, file), '')
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'left', ...manifest }))
  return folder
}

for (const [what, manifest, files, license, findings] of [
  ['an ordinary package', { scripts: { test: 'x', prepare: 'x' } }, [], 'MIT', []],
  ['a script before the installation', { scripts: { preinstall: 'x' } }, [], 'MIT', [/^left runs preinstall when it is installed\./]],
  ['a script at the installation', { scripts: { install: 'x' } }, [], 'ISC', [/^left runs install when/]],
  [
    'a script after the installation',
    { scripts: { postinstall: 'x', install: 'x' } },
    [],
    'MIT',
    [/^left runs install and postinstall when/]
  ],
  ['a package that is compiled', {}, ['binding.gyp'], 'MIT', [/^left runs node-gyp when/]],
  ['a licence that asks for the sources', {}, [], 'AGPL-3.0', [/^left has the licence AGPL-3\.0\./]],
  ['no licence', {}, [], 'Unknown', [/^left has the licence Unknown\./]]
] as const) {
  t.test(`the check of dependencies: ${what}`, async (t) => {
    const found = dependenciesOf({ [license]: [{ name: 'left', paths: [installed(t, manifest, ...files)] }] })
    const actual = findingsIn(found, pageOf(found))
    t.equal(actual.length, findings.length, actual.join('\n'))
    for (const [index, finding] of findings.entries()) t.match(actual[index], finding)
    t.match(findingsIn(found, pageOf([])).at(-1), /^docs\/dependencies\.md differs/)
  })
}

t.test('the list of dependencies has no build that only one system installs', async (t) => {
  const folder = installed(t, { os: ['linux'] })
  t.equal(pageOf(dependenciesOf({ MIT: [{ name: 'left', paths: [folder] }] })), pageOf([]))
})
