import { defineTexts, type ErrorCatalogueOptions, type TextList, type TranslatedError } from '@concordat/error-catalogue'
import { ApiError } from '@concordat/plugin-kit/api-error'
import type { FastifyRequest } from 'fastify'

const oneLanguage: TranslatedError = { statusCode: 404, code: 'ORDER_NOT_FOUND', message: 'No order 7.' }
const severalLanguages: TranslatedError = { statusCode: 404, message: { en: 'No order 7.', es: 'No hay pedido 7.' } }
// @ts-expect-error English is required.
const withoutEnglish: TranslatedError = { statusCode: 404, message: { es: 'No hay pedido 7.' } }
// @ts-expect-error The status code is required.
const withoutStatus: TranslatedError = { code: 'ORDER_NOT_FOUND' }

export const options: readonly ErrorCatalogueOptions[] = [
  { translate: () => oneLanguage },
  { translate: (error, { url }) => (error instanceof RangeError ? { ...severalLanguages, message: url } : undefined) },
  { translate: () => new ApiError(404, 'ORDER_NOT_FOUND', 'No order 7.') },
  // @ts-expect-error It cannot be asynchronous.
  { translate: async () => oneLanguage },
  // @ts-expect-error A text alone has no status code.
  { translate: () => 'No order 7.' }
]
export const compiled = [withoutEnglish, withoutStatus]

const texts = defineTexts({
  tooMany: { en: { plural: 'limit', one: 'Send at most {limit} file.', other: 'Send at most {limit, number} files.' } },
  expired: { en: 'Expired on {at, date}.', de: 'Abgelaufen am {at, date}.' },
  hello: { en: 'Hello' }
})

export function read({ text }: FastifyRequest, loose: TextList): readonly string[] {
  return [
    text(texts, 'tooMany', { limit: 1 }),
    text(texts, 'tooMany', { limit: 1n }),
    text(texts, 'expired', { at: new Date() }),
    text(texts, 'expired', { at: '2026-01-31' }),
    text(texts, 'hello'),
    text(loose, 'any', { a: 1 }),
    // @ts-expect-error The number of a plural is required.
    text(texts, 'tooMany', {}),
    // @ts-expect-error The number of a plural is not a text.
    text(texts, 'tooMany', { limit: '1' }),
    // @ts-expect-error A date is not a number.
    text(texts, 'expired', { at: 1 }),
    // @ts-expect-error The text has a placeholder.
    text(texts, 'expired'),
    // @ts-expect-error No text has this key.
    text(texts, 'bye')
  ]
}
