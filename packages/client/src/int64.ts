import type { LargeJson } from './api.ts'

/** The places of a description, as `npx concordat client … --int64` writes them: by path or, of events, by type. */
export interface Int64Places {
  readonly sent: Readonly<Record<string, unknown>>
  readonly received: Readonly<Record<string, unknown>>
  readonly types: Readonly<Record<string, unknown>>
  /** Paths whose requests are batches. */
  readonly batches: readonly string[]
}

// A value is an integer of 64 bits, or what a name in `types` says, or all of several, or it has some among its members; `*` is of all others.
type Place = 1 | string | readonly Place[] | { readonly [member: string]: Place }
type Places = Readonly<Record<string, Place>>
type Members = Record<string, unknown>
type Parse = (
  text: string,
  reviver: (this: object, key: string, value: unknown, context?: { readonly source: string }) => unknown
) => unknown

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null
const isInteger = (text: string) => /^-?\d+$/.test(text)

/**
 * Creates what reads and writes the integers of 64 bits of a description as texts or as `bigint`, with all digits. Only integers above 2^53 need a runtime
 * whose JSON has the source of numbers (`JSON.rawJSON`); elsewhere they are a `TypeError`, and never a rounded number.
 */
export function int64Json(as: 'text' | 'bigint', { batches, ...places }: Int64Places): LargeJson {
  const { sent, received, types } = places as { readonly sent: Places; readonly received: Places; readonly types: Places }
  // The digits of large integers, by the object that has them, for values that are read later.
  const digits = new WeakMap<object, Record<string, string>>()
  const templates = Object.keys(received).map((place) => ({
    place,
    form: new RegExp(
      `^${place
        .split(/\{.+?\}/)
        .map(escaped)
        .join('[^/]+')}$`
    )
  }))

  function parse(text: string, path?: string): unknown {
    // Without 16 digits, no integer is above 2^53.
    const value = /\d{16}/.test(text) ? (JSON.parse as Parse)(text, remember) : JSON.parse(text)
    const whole = text.trim()
    return path === undefined ? value : converted(value, received[path], isInteger(whole) ? whole : undefined)
  }

  function remember(this: object, key: string, value: unknown, context?: { readonly source: string }) {
    if (Number.isInteger(value) && !Number.isSafeInteger(value) && context !== undefined && isInteger(context.source))
      digits.set(this, { ...digits.get(this), [key]: context.source })
    return value
  }

  function converted(value: unknown, place: Place | undefined, text?: string): unknown {
    if (place === 1) return Number.isInteger(value) ? exact(value as number, text) : value
    if (typeof place === 'string') return converted(value, types[place], text)
    if (isList(place)) return place.reduce((one: unknown, inner) => converted(one, inner, text), value)
    if (place === undefined || !isObject(value)) return value
    for (const [name, inner] of Object.entries(value)) {
      const result = converted(inner, memberOf(place, name), digits.get(value)?.[name])
      if (result !== inner) value[name] = result
    }
    return value
  }

  function exact(value: number, text = Number.isSafeInteger(value) ? String(value) : undefined) {
    if (text === undefined) throw tooLarge(value)
    return as === 'text' ? text : BigInt(text)
  }

  function written(value: unknown, place: Place | undefined): unknown {
    if (place === 1) return typeof value === 'bigint' || (typeof value === 'string' && isInteger(value)) ? rawJson(String(value)) : value
    if (typeof place === 'string') return written(value, types[place])
    if (isList(place)) return place.reduce((one: unknown, inner) => written(one, inner), value)
    if (place === undefined || !isObject(value) || isRaw(value)) return value
    if (Array.isArray(value)) return value.map((inner, index) => written(inner, memberOf(place, String(index))))
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, written(inner, memberOf(place, name))]))
  }

  const templateOf = (path: string) => {
    const [plain = ''] = path.split('?', 1)
    return plain in received || plain in sent ? plain : templates.find(({ form }) => form.test(plain))?.place
  }

  function batchOf(value: unknown) {
    const { operations, ...others } = value as { readonly operations: readonly { readonly path: string; readonly body?: unknown }[] }
    return { ...others, operations: operations.map((one) => ({ ...one, body: written(one.body, sent[templateOf(one.path) ?? '']) })) }
  }

  return {
    parse,
    stringify: (value, path = '') => JSON.stringify(batches.includes(path) ? batchOf(value) : written(value, sent[path])),
    read: (value, place) => converted(value, received[templateOf(place) ?? ''])
  }
}

const isList = (place: Place | undefined): place is readonly Place[] => Array.isArray(place)
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

function memberOf(place: { readonly [member: string]: Place }, name: string) {
  return Object.hasOwn(place, name) ? place[name] : place['*']
}

interface RawJson {
  readonly rawJSON?: (text: string) => object
  readonly isRawJSON?: (value: unknown) => boolean
}

function rawJson(text: string) {
  const { rawJSON } = JSON as RawJson
  if (rawJSON !== undefined) return rawJSON(text)
  if (Number.isSafeInteger(Number(text))) return Number(text)
  throw tooLarge(text)
}

const isRaw = (value: unknown) => (JSON as RawJson).isRawJSON?.(value) === true
const tooLarge = (value: string | number) =>
  new TypeError(`client: ${value} cannot be read or written with all digits. Use a runtime with JSON.rawJSON, such as Node.js 22.`)
