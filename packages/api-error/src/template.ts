/** The translations of a text, by language tag. English is the default language and is required. */
export type Messages = Readonly<Record<string, string>> & { readonly en: string }

/** The values of the placeholders in a message, by name. */
export type Params = Readonly<Record<string, string | number>>

type PlacesOf<Text extends string> = Text extends `${string}{${infer Place}}${infer Rest}` ? Place | PlacesOf<Rest> : never

/** The parameters that a text with `{placeholders}` requires. */
export type TemplateParams<Text extends string> = string extends Text ? Params : { readonly [Place in PlacesOf<Text>]: string | number }

/** Replaces the `{placeholders}` in a text. One without a value is not removed, so that the mistake is visible. */
export function fillTemplate(text: string, params: Params): string {
  return text.replace(/\{(\w+)\}/g, (place, name: string) => (Object.hasOwn(params, name) ? String(params[name]) : place))
}
