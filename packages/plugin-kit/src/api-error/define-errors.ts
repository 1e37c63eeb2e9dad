import { describeOptions, type OptionsOf } from '../options/describe-options.ts'
import { integer, oneOf, required, value } from '../options/option-kinds.ts'
import { requireMessages } from '../texts/check-messages.ts'
import { fillTemplate, type Messages, type Params, type TemplateParams, type Text } from '../texts/text.ts'
import { ApiError, type ApiErrorOptions, effects, retries, withoutStack } from './api-error.ts'

/** The description of {@link ErrorDefinition}. @readme */
export const errorDefinition = describeOptions('plugin-kit', {
  /** The status code of the response. */
  statusCode: required(integer({ min: 400, max: 599 })),
  /** What is wrong, then what to do, by language; `en` is required. `params` replace `{placeholders}`, and a number among them chooses a plural form. */
  message: required(value<Messages>()),
  /** How the client fixes the request, for the published catalogue. */
  remedy: required(value<string>()),
  /** What a client can do: send the same request `later`, one that is `changed`, or `never`. Required for 5xx. @default by the status code */
  retry: oneOf(retries, {}),
  /** What the request has changed, where it is the same for every response with this code. @default decided for each response */
  effect: oneOf(effects, {}),
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

type FieldErrorInput<Fields> = {
  [Key in keyof Fields & string]: { field: string; pointer?: string | undefined; key: Key } & ParamsOf<Fields[Key]>
}[keyof Fields & string]
type ParamsOf<Message> = Message extends { readonly en: infer En extends Text }
  ? string extends keyof TemplateParams<En>
    ? { params?: Params | undefined }
    : keyof TemplateParams<En> extends never
      ? { params?: Params | undefined }
      : { params: TemplateParams<En> }
  : never
type CreateOptions<Message, Fields> = ParamsOf<Message> &
  Omit<ApiErrorOptions, 'params' | 'errors' | 'messages'> & { errors?: readonly FieldErrorInput<Fields>[] | undefined }
type CreateArguments<Message, Fields> =
  object extends CreateOptions<Message, Fields> ? [options?: CreateOptions<Message, Fields>] : [options: CreateOptions<Message, Fields>]

/** The error definitions of a package or service, by error code, and the messages of its field errors, by key. */
export interface ErrorList<
  Definitions extends Readonly<Record<string, ErrorDefinition>> = Readonly<Record<string, ErrorDefinition>>,
  Fields extends Readonly<Record<string, Messages>> = Readonly<Record<string, Messages>>
> {
  readonly definitions: Definitions
  readonly fieldMessages: Fields
  /** Creates the error with this error code. Its `message` is the English text. What a client causes (a 4xx) has no stack trace. */
  create<Code extends keyof Definitions & string>(code: Code, ...options: CreateArguments<Definitions[Code]['message'], Fields>): ApiError
}

/**
 * Defines the errors of a package or service, for the option `include` of the catalogue. Throws a `TypeError` for an error code that is not in
 * UPPER_SNAKE_CASE or too long, an invalid definition, a missing plural form, an unknown language, and languages with different `{placeholders}`.
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
    if (definition.statusCode >= 500 && definition.retry === undefined)
      throw new TypeError(
        `plugin-kit: definitions.${code}.retry is missing. Add 'later' if the same request can succeed, 'changed' or 'never'.`
      )
    requireMessages({ [code]: definition.message })
  }
  requireMessages(fieldMessages)

  function create(
    code: string,
    options: Omit<ApiErrorOptions, 'errors'> & {
      errors?: readonly { field: string; pointer?: string | undefined; key: string; params?: Params }[]
    } = {}
  ) {
    const { statusCode, message } = definitions[code] as ErrorDefinition
    const errors = (options.errors ?? []).map(({ field, pointer, key, params = {} }) => ({
      field,
      ...(pointer !== undefined && { pointer }),
      key,
      params,
      message: fillTemplate(fieldMessages[key]?.en ?? key, params)
    }))
    const text = fillTemplate(message.en, options.params ?? {})
    const make = () => new ApiError(statusCode, code, text, { ...options, messages: message, errors })
    return statusCode < 500 ? withoutStack(make) : make()
  }
  return { definitions, fieldMessages, create }
}
