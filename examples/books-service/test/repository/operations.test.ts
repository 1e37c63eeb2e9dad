import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../../../..', path), 'utf8')

t.test('the page for operators lists all variables of a created project, with their defaults', async (t) => {
  const [, table = ''] = read('docs/operations.md').split(/<!-- settings:(?:start|end) -->/)
  const shown = new Map<string, string | undefined>()
  for (const line of table.trim().split('\n').slice(2)) {
    const [names = [], defaults = []] = line
      .split('|')
      .slice(1, 3)
      .map((cell) => cell.split('`').filter((_, index) => index % 2 === 1))
    for (const [index, name] of names.entries()) shown.set(name, defaults[index])
  }
  const [, standard = ''] = /export const standardVariables[^{]*\{(.*?)\n\}/s.exec(read('packages/service/src/variables.ts')) ?? []
  const entries = standard.split(/\n {2}(?=[A-Z])/).filter((entry) => entry.trim() !== '')
  const names = entries.map((entry) => entry.slice(0, entry.indexOf(':')))
  const own: string[] = read('examples/books-service/src/settings.ts').match(/\b[A-Z]+_[A-Z]+\b/g) ?? []
  t.ok(names.includes('HOST') && own.includes('CURSOR_SECRETS'))
  t.strictSame([...shown.keys()].toSorted(), [...new Set([...names, ...own])].toSorted())
  for (const [index, name] of names.entries()) {
    const [, value] = /default: '?([^',]+)/.exec(entries[index] as string) ?? []
    if (value !== undefined && value !== '[]') t.equal(shown.get(name), value, name)
  }
})
