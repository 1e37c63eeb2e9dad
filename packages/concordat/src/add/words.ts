import { compileFunction } from 'node:vm'
import { Refusal } from 'create-concordat'
import pluralize from 'pluralize'

/** The forms of the name of a resource. */
export interface Words {
  /** `order items`, `order item`: for sentences. */
  readonly plural: string
  readonly singular: string
  /** `order-items`: the path, the folder and the permissions. */
  readonly path: string
  /** `order_items`: the table. */
  readonly table: string
  /** `orderItems`, `orderItem`, `OrderItems`, `OrderItem`, `ORDER_ITEM`: values, schemas and codes of errors. */
  readonly many: string
  readonly one: string
  readonly Plural: string
  readonly Singular: string
  readonly code: string
}

// The plurals among the words that PostgreSQL reserves: no table has such a name without quotes.
const reservedBySql: readonly string[] = ['as', 'overlaps', 'references']
// The names of values and types in the template, whose parts are the name of its resource.
const declared = /\b[A-Za-z]*[Aa]uthors?[A-Za-z]*\b/g

/** Returns the forms of a noun in lower case with hyphens, or `undefined` for another text, and for a noun without a plural. */
export function nounOf(name: string): Words | undefined {
  if (!/^[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*$/.test(name) || name.length > 30) return undefined
  const text = name.replaceAll('-', ' ')
  const [plural, singular] = [pluralize.plural(text), pluralize.singular(text)]
  if (plural === singular) return undefined
  const table = plural.replaceAll(' ', '_')
  const code = singular.replaceAll(' ', '_').toUpperCase()
  const path = plural.replaceAll(' ', '-')
  return {
    plural,
    singular,
    path,
    table,
    many: camel(plural),
    one: camel(singular),
    Plural: pascal(plural),
    Singular: pascal(singular),
    code
  }
}

/**
 * Returns the forms of a name; the singular names the same resource. Throws a {@link Refusal} for a name that a resource cannot have, also because a
 * value or a type in `code`, the template, has it.
 */
export function wordsOf(name: string, code: string): Words {
  const words = nounOf(name)
  if (words === undefined)
    throw new Refusal(
      `"${name}" cannot be the name of a resource. Use a noun with a plural, in lower case with hyphens and at most 30 letters, for example reviews.`
    )
  const other = `Choose another name, for example ${words.singular.replaceAll(' ', '-')}-entries.`
  const rest = code.replaceAll(declared, '')
  const names = [words.many, words.one].concat(Array.from(code.matchAll(declared), ([found]) => renamed(found, words)))
  // A module with async functions cannot declare a Promise.
  const taken = names.find((value) => isReserved(value) || value === 'Promise' || new RegExp(`\\b${value}\\b`).test(rest))
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

/** Returns a text of the template about `authors` for another resource. */
export function renamed(text: string, { path, many, one, Plural, Singular }: Words): string {
  return text
    .replaceAll(/(?<=\/)authors|authors(?=:\w)/g, path)
    .replaceAll('Authors', Plural)
    .replaceAll('Author', Singular)
    .replaceAll('authors', many)
    .replaceAll('author', one)
}

function camel(text: string) {
  return text.replaceAll(/ (.)/g, (_, letter: string) => letter.toUpperCase())
}

function pascal(text: string) {
  return camel(text).replace(/^./, (letter) => letter.toUpperCase())
}
