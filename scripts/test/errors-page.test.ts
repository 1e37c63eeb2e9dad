import t from 'tap'
import { errorsPage } from '../errors-page.ts'

const message = { en: 'Too many: {limit}.', es: 'Demasiados: {limit}.' }

t.test('the page lists every code once, by status and then by code, with texts, remedy and packages', async (t) => {
  const page = errorsPage(
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

t.test('a text with a bar or a line break stays one cell', async (t) => {
  const page = errorsPage([{ code: 'ODD', statusCode: 400, message: { en: 'a|b\nc', es: 'd' }, remedy: 'e' }], () => [])
  t.match(page, '| `ODD` | 400 | a\\|b c | d | e |  |\n')
})
