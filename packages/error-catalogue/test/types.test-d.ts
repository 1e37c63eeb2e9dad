import type { ErrorCatalogueOptions, TranslatedError } from '@concordat/error-catalogue'
import { ApiError } from '@concordat/plugin-kit/api-error'

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
