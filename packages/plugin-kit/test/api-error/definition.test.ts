import { defineErrors } from '@concordat/plugin-kit/api-error'
import { fillTemplate } from '@concordat/plugin-kit/texts'
import t from 'tap'

const definition = { statusCode: 404, message: { en: 'Not here.', es: 'No está.' }, remedy: 'Look elsewhere.' }

t.test('defineErrors throws for an invalid list', async (t) => {
  t.throws(() => defineErrors({ notUpper: definition }), /"notUpper" is not in UPPER_SNAKE_CASE/)
  for (const code of ['aNOT_FOUND', '_NOT_FOUND', '4_NOT_FOUND', 'NOT__FOUND', 'NOT_FOUND_', 'NOT_FOUNDs', 'A'.repeat(101)]) {
    t.throws(() => defineErrors({ [code]: definition }), /is not in UPPER_SNAKE_CASE/, code)
  }
  t.doesNotThrow(() => defineErrors({ ['A'.repeat(100)]: definition }))
  t.throws(
    () => defineErrors({ FINE: { ...definition, statusCode: 399 } }),
    /definitions\.FINE\.statusCode must be an integer from 400 to 599, but is 399/
  )
  t.throws(
    () => defineErrors({ FINE: { ...definition, statusCode: 600 } }),
    /definitions\.FINE\.statusCode must be an integer from 400 to 599, but is 600/
  )
  for (const statusCode of [400, 599])
    t.doesNotThrow(() => defineErrors({ FINE_2: { ...definition, statusCode, retry: 'later' } }), String(statusCode))
  t.throws(() => defineErrors({ FINE: { ...definition, statusCode: 500 } }), /definitions\.FINE\.retry is missing\. Add 'later' if/)
  t.throws(
    () => defineErrors({ FINE: { ...definition, statusCode: 404.5 } }),
    /definitions\.FINE\.statusCode must be an integer from 400 to 599, but is 404.5/
  )
  t.throws(() => defineErrors({ FINE: { ...definition, message: { en: 'No {name}.', es: 'No.' } } }), /"en" has \{name\}, "es" has none/)
  t.throws(
    () => defineErrors({ FINE: definition }, { wrong: { en: 'bad', es: 'mal {x}' } }),
    /the placeholders of wrong differ.*"en" has none, "es" has \{x\}/
  )
})

t.test('a placeholder without a value is not removed', async (t) => {
  t.equal(fillTemplate('{a} and {b} and {toString}', { a: 1 }), '1 and {b} and {toString}')
})
