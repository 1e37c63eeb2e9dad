// This file is only compiled. Lines that must not compile have @ts-expect-error, and the compiler rejects a directive without an error.

import { type ApiError, defineErrors } from '@concordat/plugin-kit/api-error'
import { expectTypeOf } from 'expect-type'

const list = defineErrors(
  {
    WITH_PLACE: { statusCode: 409, message: { en: 'Only {left} of {all}.' }, remedy: '' },
    PLAIN: { statusCode: 404, message: { en: 'Gone.' }, remedy: '' }
  },
  { tooLong: { en: 'at most {limit}' }, missing: { en: 'is missing' } }
)

expectTypeOf(list.create('PLAIN')).toEqualTypeOf<ApiError>()
list.create('WITH_PLACE', { params: { left: 1, all: 'ten' } })
list.create('PLAIN', {
  errors: [
    { field: 'body.a', key: 'tooLong', params: { limit: 3 } },
    { field: 'body.b', key: 'missing' }
  ]
})
// @ts-expect-error – the message has placeholders
list.create('WITH_PLACE')
// @ts-expect-error – a placeholder has no value
list.create('WITH_PLACE', { params: { left: 1 } })
// @ts-expect-error – unknown error code
list.create('OTHER')
// @ts-expect-error – unknown field text
list.create('PLAIN', { errors: [{ field: 'body.a', key: 'tooShort' }] })
// @ts-expect-error – the field text has a placeholder
list.create('PLAIN', { errors: [{ field: 'body.a', key: 'tooLong' }] })
// @ts-expect-error – the list defines the texts
list.create('PLAIN', { messages: { en: 'Other words.' } })
