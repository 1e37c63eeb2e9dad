import { defineErrors, sharedDefinitions } from '@concordat/plugin-kit/api-error'
import { formsOf } from '@concordat/plugin-kit/texts'
import t from 'tap'

t.test('every shared definition has a message in English and Spanish and a remedy', async (t) => {
  for (const [code, { message, remedy }] of Object.entries(sharedDefinitions)) {
    t.strictSame(Object.keys(message), ['en', 'es'], code)
    const texts = [message.en, message['es'] as string].flatMap((text) => Object.values(formsOf(text)))
    for (const text of [...texts, remedy]) t.match(text, /^\S[^]{10,}\.$/, `${code}: a sentence`)
  }
})

t.test('a list with a shared definition raises its error', async (t) => {
  const list = defineErrors({ JSON_TOO_DEEP: sharedDefinitions.JSON_TOO_DEEP })
  t.match(list.create('JSON_TOO_DEEP', { params: { limit: 64 } }), {
    statusCode: 400,
    code: 'JSON_TOO_DEEP',
    message: 'The body is nested more than 64 levels deep. Use fewer levels.'
  })
})
