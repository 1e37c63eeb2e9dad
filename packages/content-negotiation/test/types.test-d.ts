// Compiled, never run: each line that must not compile has a mark, and the compiler refuses a mark without an error.

import contentNegotiation, { chooseMediaType, notAcceptable } from '@concordat/content-negotiation'
import type { ApiError } from '@concordat/plugin-kit/api-error'
import { expectTypeOf } from 'expect-type'
import Fastify from 'fastify'

const app = Fastify()
app.register(contentNegotiation)
app.register(contentNegotiation, { locales: ['en', 'pt-BR'], contentEncodings: ['gzip'] })
// @ts-expect-error – a list, the default first
app.register(contentNegotiation, { locales: 'en' })

app.post('/images', { config: { produces: ['image/png'] as const, consumes: ['image/png'] } }, (request) => {
  expectTypeOf(request.locale).toEqualTypeOf<string>()
  expectTypeOf(request.acceptedMediaType).toEqualTypeOf<string>()
  // @ts-expect-error – it is read from the request
  request.locale = 'en'
  return {}
})
// @ts-expect-error – a list of media types
app.get('/reports', { config: { produces: 'text/csv' } }, async () => ({}))

expectTypeOf(chooseMediaType(undefined, ['image/png'] as const)).toEqualTypeOf<string | undefined>()
expectTypeOf(notAcceptable(['image/png'])).toEqualTypeOf<ApiError>()
