import { type ApiError, isApiError, isErrorCode } from '@concordat/plugin-kit/api-error'
import { isObject } from '@concordat/plugin-kit/json-schema'
import type { FastifyRequest } from 'fastify'

const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** A text by language. English is required. */
type Texts = Readonly<Record<string, string>> & { readonly en: string }

/** What `translate` returns for an error of the application that is not an `ApiError`. Only this is sent. */
export interface TranslatedError {
  /** A registered status code from 400 to 599. */
  readonly statusCode: number
  /** In UPPER_SNAKE_CASE. @default the general code of the status */
  readonly code?: string | undefined
  /** The text in one language, which is sent in every language, or in several, of which `en` is required. @default the text of the code */
  readonly message?: string | Texts | undefined
  /** The invalid fields, for example `body.email`. */
  readonly errors?: readonly { readonly field: string; readonly message: string | Texts }[] | undefined
  /** Headers of the response, for example `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Translates an error of the application, or returns undefined for one that it does not know. */
export type Translate = (error: unknown, request: FastifyRequest) => ApiError | TranslatedError | undefined

const members = new Set(['statusCode', 'code', 'message', 'errors', 'headers'])
const oneText = 'a text, or texts by language with "en"'

/** Calls `translate`, and throws a `TypeError` that begins with the name of the option for a result that it must not return. */
export function translationOf(translate: Translate, error: unknown, request: FastifyRequest): ApiError | TranslatedError | undefined {
  const result: unknown = translate(error, request)
  if (result === undefined || isApiError(result)) return result
  // Otherwise the rejection of an asynchronous function would end the process.
  if (result instanceof Promise) result.catch(() => undefined)
  if (!isObject(result) || result instanceof Error || result instanceof Promise)
    throw invalid('must return an ApiError, an object with statusCode, or undefined, and not a promise')
  for (const name of Object.keys(result)) if (!members.has(name)) throw invalid(`returned the unknown member ${name}`)
  const { statusCode, code, message, errors, headers } = result as { readonly [Member in keyof TranslatedError]: unknown }
  if (!isErrorStatus(statusCode)) throw invalid('must return a statusCode that is a registered status code from 400 to 599')
  if (code !== undefined && !isErrorCode(code)) throw invalid('must return a code in UPPER_SNAKE_CASE')
  if (message !== undefined && !isText(message)) throw invalid(`must return a message that is ${oneText}`)
  if (errors !== undefined && !(Array.isArray(errors) && errors.every(isField)))
    throw invalid(`must return errors that are a list of { field, message }, each message ${oneText}`)
  if (headers !== undefined && !(isObject(headers) && Object.values(headers).every((value) => typeof value === 'string')))
    throw invalid('must return headers that are an object of texts')
  return result as unknown as TranslatedError
}

/** Returns whether a value is a status code of an error that is registered. */
export function isErrorStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 400 && STATUS_CODES[value as number] !== undefined
}

function isText(value: unknown): value is string | Texts {
  if (typeof value === 'string') return true
  return isObject(value) && typeof value['en'] === 'string' && Object.values(value).every((text) => typeof text === 'string')
}

function isField(value: unknown) {
  return isObject(value) && typeof value['field'] === 'string' && isText(value['message'])
}

function invalid(reason: string) {
  return new TypeError(`options.translate ${reason}.`)
}
