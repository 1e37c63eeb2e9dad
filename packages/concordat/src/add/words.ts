import { compileFunction } from 'node:vm'
import { Refusal } from 'create-concordat'
import pluralize from 'pluralize'

/** The forms of the name of a resource. */
interface Words {
  /** `order items`, `order item`. */
  readonly plural: string
  readonly singular: string
}

// The plurals among the words that PostgreSQL reserves: no table has such a name without quotes.
const reservedBySql: readonly string[] = ['as', 'overlaps', 'references']
// The names of values and types in the template, whose parts are the name of its resource.
const declared = /\b[A-Za-z]*[Aa]uthors?[A-Za-z]*\b/g

/**
 * Returns the forms of a name in lower case with hyphens; the singular names the same resource. Throws a {@link Refusal} for a name that a resource cannot
 * have, also because a value or a type in `code`, the template, has it.
 */
export function wordsOf(name: string, code: string): Words {
  if (!/^[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*$/.test(name) || name.length > 40)
    throw new Refusal(`"${name}" cannot be the name of a resource. Use a noun in lower case with hyphens, for example reviews.`)
  const text = name.replaceAll('-', ' ')
  const words = { plural: pluralize.plural(text), singular: pluralize.singular(text) }
  if (words.plural === words.singular) throw new Refusal(`"${name}" has no plural, but a collection needs one. Choose another noun.`)
  const other = `Choose another name, for example ${kebab(words.singular)}-entries.`
  const rest = code.replaceAll(declared, '')
  const names = [words.plural, words.singular].map(camel).concat(Array.from(code.matchAll(declared), ([found]) => renamed(found, words)))
  const taken = names.find((value) => isReserved(value) || new RegExp(`\\b${value}\\b`).test(rest))
  if (taken !== undefined) throw new Refusal(`"${taken}" has another meaning in the code. ${other}`)
  if (reservedBySql.includes(words.plural))
    throw new Refusal(`"${words.plural}" is reserved by SQL, so no table can have this name. ${other}`)
  return words
}

function isReserved(name: string) {
  try {
    compileFunction(`'use strict'; const ${name} = 0`)
    return false
  } catch {
    return true
  }
}

/** Returns the name of the folder, the path and the permissions: `order-items`. */
export function kebab(text: string): string {
  return text.replaceAll(' ', '-')
}

/** Returns the name of a value: `orderItems`. */
export function camel(text: string): string {
  return text.replaceAll(/ (.)/g, (_, letter: string) => letter.toUpperCase())
}

// Where the template names its resource, and the form that each place has. The last one is for names of values.
const places: readonly (readonly [pattern: RegExp, form: (text: string) => string])[] = [
  [/(?<=[/-])authors|authors(?=\/|:\w|\.test)/g, kebab],
  [/(?<=\b(?:FROM|INTO|UPDATE|TABLE|ON) )authors|authors(?=_name_key)/g, snake],
  [/(?<=^test\('[^']*)\bauthors?\b/gm, (text) => text],
  [/AUTHORS?/g, (text) => snake(text).toUpperCase()],
  [/Authors?/g, pascal],
  [/authors?/g, camel]
]

/** Returns a text of the template about `authors` for another resource. */
export function renamed(text: string, { plural, singular }: Words): string {
  // Names of persons suit few resources.
  const neutral = text.replaceAll('Michael Ende', 'First').replaceAll('M. Ende', 'Second').replaceAll('Ende', 'Third')
  return places.reduce(
    (result, [pattern, form]) => result.replaceAll(pattern, (found) => form(/s$/i.test(found) ? plural : singular)),
    neutral
  )
}

/** Returns the name of the table: `order_items`. */
export function snake(text: string): string {
  return text.replaceAll(' ', '_')
}

function pascal(text: string) {
  return camel(text).replace(/^./, (letter) => letter.toUpperCase())
}
