import { join } from 'node:path'
import t from 'tap'
import { errorListsOf, errorsTable } from '../errors-page.ts'

const message = { en: 'Too many: {limit}.', es: 'Demasiados: {limit}.' }

t.test('the page has each code in a row, by status and then by code, with texts in one cell each, remedy and packages', async (t) => {
  const errors = [
    { code: 'B_LATE', statusCode: 409, message, remedy: 'Send fewer.' },
    { code: 'A_LATE', statusCode: 409, message: { ...message, en: 'a|b\nc' }, remedy: 'Wait.' },
    { code: 'Z_FIRST', statusCode: 400, message, remedy: 'Read.' }
  ]
  t.strictSame(errorsTable(errors, (code) => (code === 'B_LATE' ? ['links', 'versioning'] : ['links'])).match(/^\| `.*$/gm), [
    '| `Z_FIRST` | 400 | Too many: {limit}. | Demasiados: {limit}. | Read. | links |',
    '| `A_LATE` | 409 | a\\|b c | Demasiados: {limit}. | Wait. | links |',
    '| `B_LATE` | 409 | Too many: {limit}. | Demasiados: {limit}. | Send fewer. | links, versioning |'
  ])
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
