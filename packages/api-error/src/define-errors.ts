import { requireKnownNames } from '@concordat/plugin-options'
import { ApiError, type ApiErrorOptions } from './api-error.ts'
import { fillTemplate, type Messages, type Params, type TemplateParams } from './template.ts'

/** The definition of an error code in the catalogue. */
export interface ErrorDefinition {
  readonly statusCode: number
  /** The message: what is wrong, then what to do. `{placeholders}` are replaced with the `params` of the error. */
  readonly message: Messages
  /** A sentence for the catalogue page: how the client fixes the request. */
  readonly remedy: string
  /**
   * `true` for an error about invalid input, such as input that does not match a schema. The name of the error is then `ValidationError`.
   */
  readonly validation?: true | undefined
}

type FieldErrorInput<Fields> = { [Key in keyof Fields & string]: { field: string; key: Key } & ParamsOf<Fields[Key]> }[keyof Fields &
  string]
type ParamsOf<Text> = Text extends { readonly en: infer En extends string }
  ? string extends En
    ? { params?: Params | undefined }
    : keyof TemplateParams<En> extends never
      ? { params?: Params | undefined }
      : { params: TemplateParams<En> }
  : never
type CreateOptions<Text, Fields> = ParamsOf<Text> &
  Omit<ApiErrorOptions, 'params' | 'errors' | 'messages'> & { errors?: readonly FieldErrorInput<Fields>[] | undefined }
type CreateArguments<Text, Fields> =
  object extends CreateOptions<Text, Fields> ? [options?: CreateOptions<Text, Fields>] : [options: CreateOptions<Text, Fields>]

/** The error definitions of a package or service, by error code, and the messages of its field errors, by key. */
export interface ErrorList<
  Definitions extends Readonly<Record<string, ErrorDefinition>> = Readonly<Record<string, ErrorDefinition>>,
  Fields extends Readonly<Record<string, Messages>> = Readonly<Record<string, Messages>>
> {
  readonly definitions: Definitions
  readonly fieldMessages: Fields
  /** Creates the error with this error code. Its `message` is the English text. */
  create<Code extends keyof Definitions & string>(code: Code, ...options: CreateArguments<Definitions[Code]['message'], Fields>): ApiError
}

/**
 * Defines the errors of a package or service: the error code, status code, messages and remedy of each error. Add the list to the option `include`
 * of the catalogue. Throws a `TypeError` for an error code that is not in UPPER_SNAKE_CASE, a status code outside 400–599, and languages with
 * different `{placeholders}`.
 *
 * @example const orderErrors = defineErrors({ INSUFFICIENT_STOCK: { statusCode: 409, message: { en: 'Only {available} are left. Order fewer.', es:
 * 'Solo quedan {available}. Pida menos.' }, remedy: 'Fetch the product again, and order at most what is in stock.' } }) throw
 * orderErrors.create('INSUFFICIENT_STOCK', { params: { available: 3 } })
 */
export function defineErrors<
  const Definitions extends Readonly<Record<string, ErrorDefinition>>,
  const Fields extends Readonly<Record<string, Messages>> = Record<never, never>
>(definitions: Definitions, fieldMessages: Fields = {} as Fields): ErrorList<Definitions, Fields> {
  for (const [code, definition] of Object.entries(definitions)) {
    requireKnownNames('api-error', definition, { statusCode: true, message: true, remedy: true, validation: true }, `definitions.${code}`)
    if (!/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/.test(code))
      throw new TypeError(`api-error: the error code "${code}" is not in UPPER_SNAKE_CASE. Rename it.`)
    if (!Number.isInteger(definition.statusCode) || definition.statusCode < 400 || definition.statusCode > 599) {
      throw new TypeError(`api-error: ${code} has the status code ${definition.statusCode}. Use an integer from 400 to 599.`)
    }
    requireSamePlaces(code, definition.message)
  }
  for (const [key, messages] of Object.entries(fieldMessages)) requireSamePlaces(key, messages)

  function create(
    code: string,
    options: Omit<ApiErrorOptions, 'errors'> & { errors?: readonly { field: string; key: string; params?: Params }[] } = {}
  ) {
    const { statusCode, message } = definitions[code] as ErrorDefinition
    const errors = (options.errors ?? []).map(({ field, key, params = {} }) => ({
      field,
      key,
      params,
      message: fillTemplate(fieldMessages[key]?.en ?? key, params)
    }))
    return new ApiError(statusCode, code, fillTemplate(message.en, options.params ?? {}), { ...options, messages: message, errors })
  }
  return { definitions, fieldMessages, create }
}

function requireSamePlaces(name: string, messages: Messages) {
  const wanted = placesOf(messages.en)
  for (const [language, text] of Object.entries(messages)) {
    if (placesOf(text) !== wanted)
      throw new TypeError(
        `api-error: the placeholders of ${name} differ: "en" has ${wanted || 'none'}, "${language}" has ${placesOf(text) || 'none'}. Use the same placeholders in every language.`
      )
  }
}

function placesOf(text: string) {
  return [...new Set(text.match(/\{\w+\}/g))].toSorted().join(' ')
}
