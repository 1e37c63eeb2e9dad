import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { errorListsOf, errorsPage, errorsTable } from '../errors-page.ts'
import { outOfDate, writeFiles } from '../generated.ts'

const message = { en: 'Too many: {limit}.', es: 'Demasiados: {limit}.' }

t.test('the page lists every code once, by status and then by code, with texts, remedy and packages', async (t) => {
  const page = errorsTable(
    [
      { code: 'B_LATE', statusCode: 409, message, remedy: 'Send fewer.' },
      { code: 'A_LATE', statusCode: 409, message, remedy: 'Wait.' },
      { code: 'Z_FIRST', statusCode: 400, message, remedy: 'Read.' }
    ],
    (code) => (code === 'B_LATE' ? ['links', 'versioning'] : ['links'])
  )
  t.strictSame(page.match(/^\| `.*$/gm), [
    '| `Z_FIRST` | 400 | Too many: {limit}. | Demasiados: {limit}. | Read. | links |',
    '| `A_LATE` | 409 | Too many: {limit}. | Demasiados: {limit}. | Wait. | links |',
    '| `B_LATE` | 409 | Too many: {limit}. | Demasiados: {limit}. | Send fewer. | links, versioning |'
  ])
  t.match(page, /^# Errors\n/)
})

t.test('every error and every field message has a text in English and one in Spanish', async (t) => {
  const lists = await errorListsOf(join(import.meta.dirname, '../..'))
  t.ok(lists.length > 15)
  for (const [name, { definitions, fieldMessages }] of lists) {
    const messages = [
      ...Object.entries(definitions).map(([code, error]) => [code, error.message] as const),
      ...Object.entries(fieldMessages)
    ]
    for (const [key, { en, es, ...others }] of messages) t.ok(en && es && en !== es && Object.keys(others).length === 0, `${name} ${key}`)
  }
})

t.test('a text with a vertical bar or a line break stays in one cell', async (t) => {
  const page = errorsTable([{ code: 'ODD', statusCode: 400, message: { en: 'a|b\nc', es: 'd' }, remedy: 'e' }], () => [])
  t.match(page, '| `ODD` | 400 | a\\|b c | d | e |  |\n')
})

t.test('the page is made from the error lists, and a different page is out of date', async (t) => {
  const repository = join(import.meta.dirname, '../..')
  const root = t.testdir({ docs: { 'errors.md': '# Errors\n' }, packages: { 'error-catalogue': {} } })
  for (const name of ['packages/error-catalogue/package.json', 'packages/error-catalogue/src']) {
    symlinkSync(join(repository, name), join(root, name))
  }
  t.strictSame(outOfDate(root, await errorsPage(root)), ['docs/errors.md'])
  writeFiles(root, await errorsPage(root))
  t.strictSame(outOfDate(root, await errorsPage(root)), [])
  t.match(readFileSync(join(root, 'docs/errors.md'), 'utf8'), /^\| `VALIDATION_FAILED` \| 422 \| .* \| error-catalogue(, [a-z-]+)* \|$/m)
})
