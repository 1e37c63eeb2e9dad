import { describeOptions, type OptionsOf } from '../options/describe-options.ts'
import { integer, required, value } from '../options/option-kinds.ts'
import { ApiError, type ApiErrorOptions, fillTemplate, type Messages, type Params, type TemplateParams } from './api-error.ts'

/** The description of {@link ErrorDefinition}. @readme */
export const errorDefinition = describeOptions('plugin-kit', {
  /** The status code of the response. */
  statusCode: required(integer({ min: 400, max: 599 })),
  /** What is wrong, then what to do, by language; `en` is required. `params` replace `{placeholders}`. */
  message: required(value<Messages>()),
  /** How the client fixes the request, for the published catalogue. */
  remedy: required(value<string>()),
  /** `true` for invalid input: the name of the error is then `ValidationError`. */
  validation: value<true>()
})

/** The definition of an error code. */
export interface ErrorDefinition extends OptionsOf<typeof errorDefinition> {}

/** The JSON Schema of error codes: in UPPER_SNAKE_CASE, and of at most 100 characters. */
export const errorCodeSchema = { type: 'string', pattern: '^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$', maxLength: 100 } as const

const codePattern = new RegExp(errorCodeSchema.pattern)

/** Returns whether a value is an error code, as {@link errorCodeSchema} describes it. */
export function isErrorCode(value: unknown): value is string {
  return typeof value === 'string' && value.length <= errorCodeSchema.maxLength && codePattern.test(value)
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
 * Defines the errors of a package or service, for the option `include` of the catalogue. Throws a `TypeError` for an error code that is not in
 * UPPER_SNAKE_CASE or too long, an invalid definition, and languages with different `{placeholders}`.
 */
export function defineErrors<
  const Definitions extends Readonly<Record<string, ErrorDefinition>>,
  const Fields extends Readonly<Record<string, Messages>> = Record<never, never>
>(definitions: Definitions, fieldMessages: Fields = {} as Fields): ErrorList<Definitions, Fields> {
  for (const [code, definition] of Object.entries(definitions)) {
    errorDefinition.read(definition, `definitions.${code}`)
    if (!isErrorCode(code))
      throw new TypeError(
        `plugin-kit: the error code "${String(code)}" is not in UPPER_SNAKE_CASE, or has more than ${errorCodeSchema.maxLength} characters. Rename it.`
      )
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
        `plugin-kit: the placeholders of ${name} differ: "en" has ${wanted || 'none'}, "${language}" has ${placesOf(text) || 'none'}. Use the same placeholders in every language.`
      )
  }
}

function placesOf(text: string) {
  return [...new Set(text.match(/\{\w+\}/g))].toSorted().join(' ')
}
