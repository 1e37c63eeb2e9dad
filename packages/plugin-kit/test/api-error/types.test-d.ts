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

const plural = defineErrors(
  {
    TOO_MANY: {
      statusCode: 422,
      message: { en: { plural: 'limit', one: '{limit} file of {kind}.', other: '{limit, number} files of {kind}.' }, es: '{limit} {kind}' },
      remedy: ''
    },
    EXPIRED: { statusCode: 410, message: { en: 'Expired on {at, date}. Send { "a": 1 } or {}.' }, remedy: '' }
  },
  { tooBig: { en: { plural: 'max', one: '{max} byte', other: '{max, number} bytes' } } }
)
plural.create('TOO_MANY', { params: { limit: 1, kind: 'PDF' } })
plural.create('TOO_MANY', { params: { limit: 1n, kind: 7 } })
plural.create('EXPIRED', { params: { at: new Date() } })
plural.create('EXPIRED', { params: { at: '2026-01-31' }, errors: [{ field: 'body.a', key: 'tooBig', params: { max: 1 } }] })
// @ts-expect-error – the number of a plural is not a text
plural.create('TOO_MANY', { params: { limit: '1', kind: 'PDF' } })
// @ts-expect-error – the number of a plural is missing
plural.create('TOO_MANY', { params: { kind: 'PDF' } })
// @ts-expect-error – a date is not a number
plural.create('EXPIRED', { params: { at: 7 } })
// @ts-expect-error – the number of a plural is not a text
plural.create('EXPIRED', { params: { at: '2026-01-31' }, errors: [{ field: 'body.a', key: 'tooBig', params: { max: '1' } }] })
