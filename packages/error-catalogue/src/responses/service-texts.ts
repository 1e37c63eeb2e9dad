import { varyWith } from '@concordat/plugin-kit/steps'
import type { Messages, Params, TemplateParams, Text, TextList } from '@concordat/plugin-kit/texts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FoundText, TranslatedCatalogue } from '../catalogue/catalogue.ts'
import type { Settings } from '../options.ts'

// The key of the request property with the language of the last text that a handler read.
const usedLanguage: unique symbol = Symbol('concordat.usedLanguage')
type TextRequest = FastifyRequest & { [usedLanguage]?: string | null }

type TextArguments<Shown> = Shown extends { readonly en: infer English extends Text }
  ? string extends keyof TemplateParams<English>
    ? [params?: Params]
    : keyof TemplateParams<English> extends never
      ? []
      : [params: TemplateParams<English>]
  : never

/** Returns a text of a list, which `options.texts` includes, in the language of the request. */
export type ReadText = <const Texts extends Readonly<Record<string, Messages>>, Key extends keyof Texts & string>(
  list: TextList<Texts>,
  key: Key,
  ...params: TextArguments<Texts[Key]>
) => string

/** Returns the locale of a request, or the default for one that is not among the locales. */
export function knownLocale({ locale, locales }: Settings, request: Parameters<Settings['locale']>[0]): string {
  const wanted = locale(request)
  return locales.includes(wanted) ? wanted : (locales[0] as string)
}

/** Adds `request.text`. It throws a `TypeError` for a list that is not in `options.texts`, and for an unknown key. */
export function addTextReader(app: FastifyInstance, settings: Settings, catalogue: TranslatedCatalogue): void {
  app.decorateRequest(usedLanguage, null)
  app.decorateRequest('text', readText as ReadText)

  function readText(this: TextRequest, list: TextList, key: string, params: Params = {}): string {
    if (!settings.texts.includes(list))
      throw new TypeError('error-catalogue: request.text was called with a list that is not in options.texts. Add it there.')
    const messages = Object.hasOwn(list.texts, key) ? catalogue.translated.get(`texts.${key}`) : undefined
    if (messages === undefined)
      throw new TypeError(`error-catalogue: the list of request.text has no text ${key}. Add it with defineTexts.`)
    const { text, language } = catalogue.textIn(knownLocale(settings, this), params, messages) as FoundText
    this[usedLanguage] = language
    return text
  }
}

/** Names the language of a response whose handler read a text, unless the handler did, so that caches know that it depends on `Accept-Language`. */
export function nameLanguage(request: TextRequest, reply: FastifyReply): undefined {
  const language = request[usedLanguage]
  if (language === null || language === undefined || reply.hasHeader('content-language')) return
  reply.header('content-language', language).header('vary', varyWith(reply.getHeader('vary'), 'accept-language'))
}
