// Compiled, never run: what must not compile is marked, and the compiler refuses a mark without an error.

import { type ApiError, defineErrors, type TemplateParams } from '@concordat/api-error'
import { expectTypeOf } from 'expect-type'

const list = defineErrors(
  {
    WITH_PLACE: { statusCode: 409, message: { en: 'Only {left} of {all}.' }, remedy: '' },
    PLAIN: { statusCode: 404, message: { en: 'Gone.' }, remedy: '' }
  },
  { tooLong: { en: 'at most {limit}' }, missing: { en: 'is missing' } }
)

expectTypeOf<keyof TemplateParams<'Only {left} of {all}.'>>().toEqualTypeOf<'left' | 'all'>()
expectTypeOf(list.create('PLAIN')).toEqualTypeOf<ApiError>()
list.create('WITH_PLACE', { params: { left: 1, all: 'ten' } })
list.create('PLAIN', {
  errors: [
    { field: 'body.a', key: 'tooLong', params: { limit: 3 } },
    { field: 'body.b', key: 'missing' }
  ]
})
// @ts-expect-error – the message has places
list.create('WITH_PLACE')
// @ts-expect-error – one place is not filled
list.create('WITH_PLACE', { params: { left: 1 } })
// @ts-expect-error – no such code
list.create('OTHER')
// @ts-expect-error – no such field text
list.create('PLAIN', { errors: [{ field: 'body.a', key: 'tooShort' }] })
// @ts-expect-error – the field text has a place
list.create('PLAIN', { errors: [{ field: 'body.a', key: 'tooLong' }] })
// @ts-expect-error – the texts are those of the list
list.create('PLAIN', { messages: { en: 'Other words.' } })
