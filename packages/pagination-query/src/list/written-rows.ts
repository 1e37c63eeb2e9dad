import type { Page } from './page.ts'

/** Rows that are written as JSON already, and become objects when something reads them. */
export class WrittenRows<Row = unknown> {
  /** The JSON text of the list; undefined as soon as the rows were read, because they may have been changed. */
  text: string | undefined
  readonly count: number
  /** The fields of the rows. */
  readonly fields: readonly string[]
  readonly kinds: object | undefined
  #read: (() => Row[]) | undefined
  #rows: readonly Row[] | undefined

  constructor(
    text: string,
    count: number,
    { fields, kinds }: { fields: readonly string[]; kinds?: object | undefined },
    read: () => Row[]
  ) {
    this.text = text
    this.count = count
    this.fields = fields
    this.kinds = kinds
    this.#read = read
  }

  get rows(): readonly Row[] {
    const read = this.#read
    this.text = undefined
    this.#read = undefined
    if (read !== undefined) this.#rows = read()
    return this.#rows as readonly Row[]
  }

  set rows(rows: readonly Row[]) {
    this.text = undefined
    this.#read = undefined
    this.#rows = rows
  }
}

const written: unique symbol = Symbol('concordat.written')
type WrittenPage<Row = unknown> = Page<Row> & { readonly [written]?: WrittenRows<Row> }

// The same functions for all pages: V8 would keep the functions of an accessor in an object literal, and with them the text, until a full collection.
const accessor: PropertyDescriptor & ThisType<{ [written]: WrittenRows }> = {
  enumerable: true,
  configurable: true,
  get() {
    return this[written].rows
  },
  set(rows: readonly unknown[]) {
    this[written].rows = rows
  }
}

/** Returns a page whose `rows` are read from their text when a handler uses them. */
export function writtenPage<Row>(rows: WrittenRows<Row>, page: Omit<Page<Row>, 'rows'>): Page<Row> {
  Object.defineProperty(page, written, { value: rows })
  return Object.defineProperty(page, 'rows', accessor) as Page<Row>
}

/** Returns the written rows of a page, if an adapter wrote them. */
export function writtenRowsOf<Row>(page: Page<Row>): WrittenRows<Row> | undefined {
  return (page as WrittenPage<Row>)[written]
}
