import { targetWithoutSecrets } from '@concordat/links'
import type { Count } from '../list-query.ts'
import type { Operator } from '../operators.ts'
import { nameOfKey } from '../order/sort-order.ts'
import type { Field } from './field.ts'
import { operatorsOf } from './operator-table.ts'

/** The names that parameters of every collection have (rule Q11). */
export const reservedNames: ReadonlySet<string> = new Set(['page', 'perPage', 'after', 'sort', 'fields', 'offset', 'limit'])

/** The longest text that a sort key of a collection by cursor may have: all keys have to fit into a cursor, emoji too. */
const longestKeys = 120

interface Declared {
  readonly name: string
  readonly style: string
  readonly id: string
  readonly sort: { readonly keys: readonly string[]; readonly combinations?: readonly (readonly string[])[] }
  readonly defaultSort: readonly string[]
  readonly filter?: Readonly<Record<string, true | readonly Operator[]>>
  readonly count?: Count
}

/** Throws a `TypeError` of one line for the first thing in a declaration that can't work. */
export function requireDeclaration(fields: ReadonlyMap<string, Field>, declared: Declared): void {
  const { name, style, id, sort, defaultSort, filter = {}, count } = declared
  const where = `The collection "${name}"`
  if (typeof name !== 'string' || name === '') throw new TypeError('A collection has no name. Name it after its resource, as "orders".')
  if (style !== 'page' && style !== 'cursor') throw new TypeError(`${where} has the style "${style}". Choose "page" or "cursor".`)
  if (fields.size === 0) throw new TypeError(`${where} has a schema without properties. Give the object schema of one resource.`)
  for (const field of fields.keys()) requireFieldName(where, field)
  const identifier = fields.get(id)
  if (identifier?.kind === undefined)
    throw new TypeError(`${where} has the id "${id}", which is no scalar member of its schema. Name the member that identifies a row.`)
  requireCount(where, count)

  const combinations = sort.combinations ?? []
  for (const key of sort.keys) requireSortable(where, fields, key)
  for (const keys of combinations) requireCombination(where, fields, keys)
  const isKey = defaultSort.length === 1 && sort.keys.includes(nameOfKey(defaultSort[0] as string))
  if (!isKey && !combinations.some((keys) => keys.join() === defaultSort.join()))
    throw new TypeError(`${where} has the defaultSort "${defaultSort.join()}", which its sort does not allow. Add it to sort.`)
  if (style === 'cursor') for (const keys of [...sort.keys.map((key) => [key]), ...combinations]) requireShortKeys(where, fields, keys, id)
  for (const [field, operators] of Object.entries(filter)) requireFilter(where, fields, field, operators)
}

function requireFieldName(where: string, field: string) {
  if (field === '' || field === '__proto__' || /^-|[[\],]/.test(field))
    throw new TypeError(`${where} has the field "${field}". Rename it: a name must not be empty, begin with "-" or hold "[", "]" or ",".`)
}

function requireCount(where: string, count: Count | undefined) {
  const known = count === undefined || count === 'none' || count === 'exact' || count === 'estimated'
  if (!known && !(typeof count === 'object' && Number.isSafeInteger(count.atMost) && count.atMost > 0))
    throw new TypeError(`${where} has a count that there is not. Choose "none", "exact", "estimated" or { atMost: n } with n from 1.`)
}

function requireSortable(where: string, fields: ReadonlyMap<string, Field>, name: string) {
  if (!fields.has(name)) throw new TypeError(`${where} sorts by "${name}", which its schema does not have. Name one of its fields.`)
  if (fields.get(name)?.kind === undefined)
    throw new TypeError(`${where} sorts by "${name}", whose values are no scalars of one kind. Leave it out of sort.`)
}

function requireCombination(where: string, fields: ReadonlyMap<string, Field>, keys: readonly string[]) {
  const names = keys.map(nameOfKey)
  for (const name of names) requireSortable(where, fields, name)
  if (keys.length < 2 || new Set(names).size < keys.length)
    throw new TypeError(`${where} has the combination "${keys.join()}". Give two or more different keys; single ones belong to sort.keys.`)
}

function requireShortKeys(where: string, fields: ReadonlyMap<string, Field>, keys: readonly string[], id: string) {
  const texts = [...new Set([...keys.map(nameOfKey), id])].map((name) => fields.get(name) as Field).filter(({ kind }) => kind === 'string')
  const total = texts.reduce((sum, { maxLength = Number.POSITIVE_INFINITY }) => sum + maxLength, 0)
  if (total > longestKeys)
    throw new TypeError(
      `${where} is sorted by "${keys.join()}", whose texts may be too long for a cursor. Give ${texts.map((field) => field.name).join(' and ')} ` +
        `a maxLength, together at most ${longestKeys}, or choose the style "page".`
    )
}

function requireFilter(where: string, fields: ReadonlyMap<string, Field>, name: string, operators: true | readonly Operator[]) {
  const field = fields.get(name)
  if (field === undefined) throw new TypeError(`${where} filters by "${name}", which its schema does not have. Name one of its fields.`)
  if (reservedNames.has(name))
    throw new TypeError(`${where} filters by "${name}", which is the name of a parameter of every collection. Rename the field.`)
  // The links of an answer leave out what looks like a credential, and would show another list without this filter.
  if (!targetWithoutSecrets(`/?${name}=x`).includes('='))
    throw new TypeError(`${where} filters by "${name}", which links hide because credentials are called that. Rename the field.`)
  const { allowed } = operatorsOf(field)
  if (allowed.length === 0)
    throw new TypeError(`${where} filters by "${name}", whose values are no scalars of one kind. Leave it out of filter.`)
  if (operators === true) return
  const wrong = operators.find((operator) => !allowed.includes(operator))
  if (wrong !== undefined || operators.length === 0)
    throw new TypeError(
      `${where} filters by "${name}" with ${wrong === undefined ? 'no operator' : `"${wrong}"`}. Choose among ${allowed.join(', ')}.`
    )
}
