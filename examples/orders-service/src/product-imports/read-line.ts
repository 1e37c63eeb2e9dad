import { validate } from 'uuid'
import { Currency, Price } from '../fields.ts'
import { maxNameLength, maxUnitsInStock } from '../products/schemas.ts'
import { type CsvLine, columns } from './csv.ts'
import type { Reason } from './errors.ts'

type Column = (typeof columns)[number]

/** The product of a line. */
export interface ImportedProduct {
  readonly name: string
  readonly categoryId: string
  readonly unitPrice: string
  readonly currency: string
  readonly unitsInStock: number
}

/** Why a line is refused. */
export interface Refusal {
  readonly line: number
  readonly field?: Column
  readonly reason: Reason
  readonly params?: Readonly<Record<string, string | number>>
}

/** A line of a file, whose product is valid, or which is refused. */
export type ImportLine = { readonly line: number; readonly product: ImportedProduct } | { readonly refusal: Refusal }

const name = new RegExp(`^.{1,${maxNameLength}}$`, 'su')
const [price, currency, integer] = [new RegExp(String(Price.pattern)), new RegExp(String(Currency.pattern)), /^\d{1,7}$/]

const checks: readonly (readonly [Column, Reason, (text: string) => boolean, Refusal['params']?])[] = [
  ['name', 'name', (text) => name.test(text), { limit: maxNameLength }],
  ['categoryId', 'category', validate],
  ['unitPrice', 'price', (text) => price.test(text)],
  ['currency', 'currency', (text) => currency.test(text)],
  ['unitsInStock', 'stock', (text) => integer.test(text) && Number(text) <= maxUnitsInStock, { limit: maxUnitsInStock }]
]

/** Returns the reader of lines below a header. `names` are those of the lines before, with their numbers. */
export function lineReader(header: readonly string[], names: Map<string, number> = new Map()): (line: CsvLine) => ImportLine {
  return ({ line, fields }) => {
    if (fields.length === 0) return { refusal: { line, reason: 'syntax' } }
    if (fields.length !== columns.length) return { refusal: { line, reason: 'fieldCount', params: { count: columns.length } } }
    const texts = Object.fromEntries(header.map((name, index) => [name, fields[index]])) as Readonly<Record<Column, string>>
    for (const [field, reason, isValid, params] of checks)
      if (!isValid(texts[field])) return { refusal: { line, field, reason, ...(params && { params }) } }
    const before = names.get(texts.name)
    if (before !== undefined) return { refusal: { line, field: 'name', reason: 'repeatedName', params: { line: before } } }
    names.set(texts.name, line)
    return { line, product: { ...texts, unitsInStock: Number(texts.unitsInStock) } }
  }
}
