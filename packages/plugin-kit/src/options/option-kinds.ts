import {
  type DescribedOptions,
  type GivenOptions,
  namesOf,
  type Option,
  type OptionMembers,
  type OptionPage,
  readMembers,
  type SettingsOf
} from './describe-options.ts'
import { optionChecks } from './option-checks.ts'
import type { Table } from './option-names.ts'

/** An option without which the start fails. */
export type RequiredOption<Given, Setting> = Option<Given, Setting> & { readonly isRequired: true }

type Defaulted<Value, Given> = Given extends { readonly default: Value } ? Option<Value, Value> : Option<Value, Value | undefined>
interface Range {
  readonly min?: number | undefined
  readonly max?: number | undefined
}
type Check<Value> = (plugin: string, path: string, value: unknown) => Value

function option<Value>(check: Check<Value>, page: OptionPage, names: true | Table = true): Option<Value, Value> {
  const read: Check<Value> = (plugin, path, value) =>
    value === undefined && !('default' in page) ? (undefined as Value) : check(plugin, path, value === undefined ? page.default : value)
  return { read, check, names, page }
}

/** Makes an option required: `required(callback<Owner>('returns the owner'))`. */
export function required<Given, Setting>(optional: Option<Given, Setting>): RequiredOption<Given, Exclude<Setting, undefined>> {
  const check = optional.check as Check<Exclude<Setting, undefined>>
  return { ...optional, isRequired: true, read: check, check }
}

/** An integer from `min`, by default 0, to `max`. */
export function integer<const Page extends Range & { readonly default?: number | undefined }>(page: Page): Defaulted<number, Page> {
  const { min = 0, max } = page
  return option((plugin, path, value) => optionChecks(plugin).integer(path, value, min, max), { min, ...page }) as never
}

/** A number from `min`, by default 0, to `max`, with or without a fraction. */
export function number<const Page extends Range & { readonly default?: number | undefined }>(page: Page): Defaulted<number, Page> {
  const { min = 0, max } = page
  return option((plugin, path, value) => optionChecks(plugin).number(path, value, min, max), { min, ...page }) as never
}

/** A duration in seconds, whose setting is in milliseconds: the option `waitSeconds` becomes the setting `waitMs`. */
export function duration(page: Range & { readonly default: number }): Option<number, number> & { readonly inMilliseconds: true } {
  const seconds = number(page)
  const check: Check<number> = (...input) => Math.round(seconds.check(...input) * 1000)
  return { ...option(check, seconds.page), inMilliseconds: true }
}

/** `true` or `false`, by default `false`. */
export function flag(page: { readonly default: boolean } = { default: false }): Option<boolean, boolean> {
  return oneOf<boolean, typeof page>([true, false], page)
}

/** One of the choices. */
export function oneOf<const Choice, const Page extends { readonly default?: Choice | undefined }>(
  choices: readonly Choice[],
  page: Page
): Defaulted<Choice, Page> {
  return option((plugin, path, value) => optionChecks(plugin).oneOf(path, value, choices), { choices, ...page }) as never
}

/** The name of a header field (RFC 9110 §5.1). */
export function headerName(page: { readonly default: string }): Option<string, string> {
  return option((plugin, path, value) => optionChecks(plugin).headerName(path, value), page)
}

/** A function. `does` completes the message: `options.owner must be a function that returns the client`. */
export function callback<Function>(does: string, page: { readonly default: Function }): Option<Function, Function>
export function callback<Function>(does: string): Option<Function, Function | undefined>
export function callback<Function>(does: string, page: OptionPage = {}): Option<Function, Function | undefined> {
  return option((plugin, path, value) => {
    if (typeof value === 'function') return value as Function
    throw new TypeError(`${plugin}: ${path} must be a function that ${does}, but its type is ${typeof value}.`)
  }, page)
}

/** An object with these methods, such as a store. `remedy` completes the message: `must implement RateLimitStore, for example …`. */
export function instance<Type extends object>(methods: readonly (keyof Type & string)[], remedy: string): Option<Type, Type | undefined> {
  return option((plugin, path, value) => {
    const has = (name: keyof Type) => typeof (value as Partial<Type> | null)?.[name] === 'function'
    if (typeof value === 'object' && methods.every(has)) return value as Type
    throw new TypeError(`${plugin}: ${path} must implement ${remedy}.`)
  }, {})
}

/** A value that the package checks itself. The members of an object can be described nevertheless, so that their names are checked. */
export function value<Type>(page: { readonly default: Type; readonly names?: Table | undefined }): Option<Type, Type>
export function value<Type>(page?: { readonly names?: Table | undefined }): Option<Type, Type | undefined>
export function value<Type>(page: OptionPage & { readonly names?: Table | undefined } = {}): Option<Type, Type | undefined> {
  const { names, ...shown } = page
  return option((_plugin, _path, given) => given as Type, shown, names)
}

/** An object with options of its own, by default those of an empty object. */
export function group<Members extends OptionMembers>({
  members
}: DescribedOptions<Members>): Option<GivenOptions<Members>, SettingsOf<Members>> {
  return option((plugin, path, given) => readMembers(plugin, path, members, given as object), { default: {} }, namesOf(members)) as Option<
    never,
    SettingsOf<Members>
  >
}

/** An option, or `false`. */
export function orFalse<Given, Setting>(inner: Option<Given, Setting>): Option<Given | false, Setting | false> {
  const check: Check<Setting | false> = (plugin, path, given) => (given === false ? false : inner.check(plugin, path, given))
  return option(check, inner.page, inner.names) as Option<never, Setting | false>
}
