import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const home = join(import.meta.dirname, '..')

t.test('each mutant fits its source: what it changes stands there once, and the tests that should catch it exist', async (t) => {
  const names = readdirSync(join(home, 'test/mutants')).filter((name) => name.endsWith('.json'))
  t.ok(names.length > 0)
  for (const name of names) {
    const mutant = JSON.parse(readFileSync(join(home, 'test/mutants', name), 'utf8')) as { file: string; find: string; tests: string[] }
    t.equal(readFileSync(join(home, mutant.file), 'utf8').split(mutant.find).length - 1, 1, name)
    for (const test of mutant.tests) t.ok(existsSync(join(home, test)), `${name}: ${test}`)
  }
})
