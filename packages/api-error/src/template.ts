/** One text per language tag. English is the default language and always there. */
export type Messages = Readonly<Record<string, string>> & { readonly en: string }

/** The values that a message needs, by the name of their place in the text. */
export type Params = Readonly<Record<string, string | number>>

type PlacesOf<Text extends string> = Text extends `${string}{${infer Place}}${infer Rest}` ? Place | PlacesOf<Rest> : never

/** The parameters that a text with `{places}` asks for. */
export type TemplateParams<Text extends string> = string extends Text ? Params : { readonly [Place in PlacesOf<Text>]: string | number }

/** Fills the `{places}` of a text. A place without a value stays visible, so that a mistake is seen and not a gap. */
export function fillTemplate(text: string, params: Params): string {
  return text.replace(/\{(\w+)\}/g, (place, name: string) => (Object.hasOwn(params, name) ? String(params[name]) : place))
}
