import { type Description, kindsOf, type Schema } from './description.ts'
import { type Int64Form, isInt64 } from './int64-places.ts'
import { relationsOf } from './relations.ts'
import { comment, grouped, literal, member, Names, union } from './words.ts'

/** What is sent, without readOnly members, or what is received, without writeOnly members. */
export type Side = 'in' | 'out'

/** Writes schemas as types. Components that are used become declarations. */
export class SchemaTypes {
  readonly #description: Description
  readonly #names: Names
  readonly #nameOf = new Map<string, string>()
  readonly #declarations = new Map<string, string>()
  readonly #differs = new Map<string, boolean>()

  /** Components that are received, and not only sent. */
  readonly received = new Set<string>()
  readonly #receivedBefore: ReadonlySet<string> | undefined
  readonly #int64: Int64Form | undefined

  /** `received` are the components that an earlier pass has found to be received: the others need no second name. */
  constructor(description: Description, int64: Int64Form | undefined, received?: ReadonlySet<string>) {
    this.#description = description
    this.#int64 = int64
    this.#receivedBefore = received
    this.#names = new Names()
    for (const key of Object.keys(this.#components)) this.#nameOf.set(`out ${key}`, this.#names.of(key))
  }

  get #components() {
    return this.#description.document.components?.schemas ?? {}
  }

  /** Returns a name for another part of the file, which no component has. */
  nameFor(text: string): string {
    return this.#names.of(text)
  }

  /** Declarations of the components that were used so far, in the order of their names. */
  declarations(): string {
    return [...this.#declarations.entries()]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([, text]) => text)
      .join('\n')
  }

  /** Returns the type of a schema. `place` is where it is, for warnings. */
  of(schema: Schema | boolean | undefined, side: Side, place: string, indent = ''): string {
    if (schema === undefined || schema === true) return 'unknown'
    if (schema === false) return 'never'
    if (schema.$ref !== undefined) {
      const key = this.#description.componentOf(schema.$ref)
      return key === undefined
        ? this.of(this.#description.resolve(schema, place) as Schema, side, place, indent)
        : this.#reference(key, side)
    }
    if ('const' in schema) return literal(schema['const'])
    const text = schema.enum === undefined ? this.#combined(schema, side, place, indent) : union(schema.enum.map(literal), indent)
    return schema['nullable'] === true && text !== 'unknown' ? union([text, 'null']) : text
  }

  #combined(schema: Schema, side: Side, place: string, indent: string) {
    const parts = [schema.oneOf, schema.anyOf].flatMap((list) =>
      list === undefined ? [] : [this.#alternatives(schema, list, side, place, indent)]
    )
    for (const part of schema.allOf ?? []) parts.push(this.of(part, side, place, indent))
    const kinds = kindsOf(schema)
    if (kinds.length > 0) parts.push(union(kinds.map((kind) => this.#kind(schema, kind, side, place, indent))))
    const known = parts.filter((part) => part !== 'unknown')
    if (known.length === 0) return 'unknown'
    return known.length === 1 ? (known[0] as string) : known.map(grouped).join(' & ')
  }

  #alternatives(schema: Schema, list: readonly (Schema | boolean)[], side: Side, place: string, indent: string) {
    const { propertyName, mapping = {} } = (schema['discriminator'] ?? {}) as { propertyName?: string; mapping?: Record<string, string> }
    // Whole resources: the partial ones are the types of calls with `fields`.
    const whole = list.filter((one) => (this.#description.resolve(one, place) as Schema | undefined)?.['x-projection'] !== true)
    const types = whole.map((one) => {
      const text = this.of(one, side, place, indent)
      const key = typeof one === 'object' ? this.#description.componentOf(one.$ref) : undefined
      if (propertyName === undefined || key === undefined) return text
      const own = this.#description.resolve(this.#components[key]?.properties?.[propertyName], place) as Schema | undefined
      if (own !== undefined && ('const' in own || own.enum !== undefined)) return text
      const values = Object.entries(mapping).flatMap(([value, target]) =>
        target === key || this.#description.componentOf(target) === key ? [value] : []
      )
      return `(${grouped(text)} & { ${member(propertyName)}: ${union((values.length > 0 ? values : [key]).map(literal))} })`
    })
    const relations = relationsOf(this.#description, list, place)
    if (Object.keys(relations).length === 0) return union(types, indent)
    return `${grouped(union(types, indent))} & ${this.#object({ properties: relations }, side, place, indent)}`
  }

  #kind(schema: Schema, kind: string, side: Side, place: string, indent: string): string {
    if (kind === 'integer' || kind === 'number') return isInt64(schema) ? this.#largeInteger(place) : 'number'
    if (kind === 'string' || kind === 'boolean' || kind === 'null') return kind
    if (kind === 'array') {
      const rest = schema.items === undefined && schema.prefixItems !== undefined ? true : schema.items
      const items = grouped(this.of(rest, side, place, indent))
      if (schema.prefixItems === undefined) return `${items}[]`
      const minItems = Number(schema['minItems'] ?? 0)
      const tuple = schema.prefixItems.map(
        (one, index) => `${grouped(this.of(one, side, place, indent))}${index < minItems || minItems === 0 ? '' : '?'}`
      )
      return `[${[...tuple, ...(rest === false ? [] : [`...${items}[]`])].join(', ')}]`
    }
    if (kind === 'object') return this.#object(schema, side, place, indent)
    this.#description.warnings.add(`${place}: the type ${kind} is unknown.`)
    return 'unknown'
  }

  #largeInteger(place: string) {
    if (this.#int64 !== undefined) return this.#int64 === 'text' ? 'string' : 'bigint'
    this.#description.warnings.add(
      `${place}: an integer of 64 bits loses digits above 2^53. Keep them with --int64 text or --int64 bigint.`
    )
    return 'number'
  }

  #object(schema: Schema, side: Side, place: string, indent: string) {
    const inner = `${indent}  `
    const lines = Object.entries(schema.properties ?? {}).flatMap(([name, value]) => {
      const at = `${place}.${name}`
      const plain = this.#description.resolve(value, at) as Schema
      if (plain?.[side === 'in' ? 'readOnly' : 'writeOnly'] === true) return []
      const isRequired = schema.required?.includes(name) === true
      const text = this.of(value, side, at, inner)
      return [`${comment(plain?.description, inner)}${inner}${member(name)}${isRequired ? `: ${text}` : `?: ${optional(text, inner)}`}\n`]
    })
    const extra = schema.additionalProperties
    const patterns = Object.values((schema['patternProperties'] ?? {}) as Record<string, Schema>)
    const isOpen = (extra !== undefined && extra !== false) || patterns.length > 0
    if (lines.length === 0) {
      if (!isOpen) return extra === false || schema.properties !== undefined ? 'Record<never, never>' : '{ [name: string]: unknown }'
      const values = [...patterns, ...(extra === undefined || extra === false ? [] : [extra])]
      return `{ [name: string]: ${union(values.map((one) => this.of(one, side, place, indent)))} }`
    }
    // The type of a signature would apply to the named members too.
    if (isOpen) lines.push(`${inner}[name: string]: unknown\n`)
    return `{\n${lines.join('')}${indent}}`
  }

  #reference(key: string, side: Side) {
    const used = side === 'in' && this.#differsBySide(key, new Set()) ? 'in' : 'out'
    if (side === 'out') this.received.add(key)
    const id = used === 'in' && this.#receivedBefore?.has(key) !== false ? `in ${key}` : `out ${key}`
    let name = this.#nameOf.get(id)
    if (name === undefined) {
      name = this.#names.of(`${key}Input`)
      this.#nameOf.set(id, name)
    }
    if (!this.#declarations.has(name)) {
      this.#declarations.set(name, '')
      this.#declarations.set(name, this.#declaration(key, name, used))
    }
    return name
  }

  #declaration(key: string, name: string, side: Side) {
    const place = `components.schemas.${key}`
    let schema = this.#components[key] as Schema
    if (this.#leadsTo(schema, key, new Set())) {
      this.#description.warnings.add(`${place}: the schema consists of itself.`)
      return `export type ${name} = unknown\n`
    }
    schema = this.#withoutChildren(schema, key, place)
    const text = this.of(schema, side, place)
    const head = comment(schema.description, '')
    return text.startsWith('{\n') && !/\n} [|&]/.test(text)
      ? `${head}export interface ${name} ${text}\n`
      : `${head}export type ${name} = ${text}\n`
  }

  // A parent that is the union of its children is, for a child, only its own members: otherwise the child would contain itself.
  #withoutChildren(schema: Schema, key: string, place: string): Schema {
    const isChildOf = (parent: Schema) =>
      [...(parent.oneOf ?? []), ...(parent.anyOf ?? [])].some(
        (one) => typeof one === 'object' && this.#description.componentOf(one.$ref) === key
      )
    if (schema.allOf === undefined) return schema
    const allOf = schema.allOf.map((part) => {
      const parent = this.#description.resolve(part, place) as Schema
      if (typeof part === 'boolean' || !isChildOf(parent)) return part
      const { oneOf: _oneOf, anyOf: _anyOf, discriminator: _discriminator, ...members } = parent
      return members
    })
    return { ...schema, allOf }
  }

  /** Whether a schema is, through references and alternatives alone, the component itself. */
  #leadsTo(schema: Schema | boolean, key: string, seen: Set<string>): boolean {
    if (typeof schema === 'boolean') return false
    const target = this.#description.componentOf(schema.$ref)
    if (target !== undefined) {
      if (target === key) return true
      if (seen.has(target)) return false
      seen.add(target)
      return this.#leadsTo(this.#components[target] as Schema, key, seen)
    }
    const parts = [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])]
    return parts.some((part) => this.#leadsTo(part, key, seen))
  }

  #differsBySide(key: string, seen: Set<string>): boolean {
    const known = this.#differs.get(key)
    if (known !== undefined) return known
    if (seen.has(key)) return false
    seen.add(key)
    const differs = this.#hasSides(this.#components[key], seen)
    if (seen.values().next().value === key) this.#differs.set(key, differs)
    return differs
  }

  #hasSides(part: unknown, seen: Set<string>): boolean {
    if (typeof part !== 'object' || part === null) return false
    const schema = part as Schema
    if (schema['readOnly'] === true || schema['writeOnly'] === true) return true
    const target = this.#description.componentOf(typeof schema.$ref === 'string' ? schema.$ref : undefined)
    if (target !== undefined) return this.#differsBySide(target, seen)
    return Object.entries(schema).some(
      ([keyword, value]) => !['example', 'examples', 'default', 'enum', 'const'].includes(keyword) && this.#hasSides(value, seen)
    )
  }
}

const optional = (text: string, indent: string) =>
  text === 'unknown' ? text : `${text}${text.startsWith('\n') ? `\n${indent}  |` : ' |'} undefined`
