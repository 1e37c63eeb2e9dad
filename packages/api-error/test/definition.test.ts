import { defineErrors, fillTemplate } from '@concordat/api-error'
import t from 'tap'

const definition = { statusCode: 404, message: { en: 'Not here.', es: 'No está.' }, remedy: 'Look elsewhere.' }

t.test('a list with a mistake is refused when it is defined', async (t) => {
  t.throws(() => defineErrors({ notUpper: definition }), /"notUpper" is not UPPER_SNAKE_CASE/)
  t.throws(() => defineErrors({ FINE: { ...definition, statusCode: 200 } }), /status 200/)
  t.throws(() => defineErrors({ FINE: { ...definition, statusCode: 404.5 } }), /status 404.5/)
  t.throws(() => defineErrors({ FINE: { ...definition, message: { en: 'No {name}.', es: 'No.' } } }), /"en" has \{name\}, "es" has none/)
  t.throws(() => defineErrors({ FINE: definition }, { wrong: { en: 'bad', es: 'mal {x}' } }), /wrong differ.*"en" has none, "es" has \{x\}/)
})

t.test('a place without a value stays visible', async (t) => {
  t.equal(fillTemplate('{a} and {b} and {toString}', { a: 1 }), '1 and {b} and {toString}')
})
