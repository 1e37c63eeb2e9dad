import { Refusal } from 'create-concordat'
import pluralize from 'pluralize'
import { type FieldType, fieldTypes } from './field-types.ts'
import { nounOf, type Words } from './words.ts'

/** A field of a new resource, as a specification such as `note:string:optional` declares it. */
export interface Field {
  /** Its name in the API: that of a reference ends in `Id`. */
  readonly name: string
  /** The name in words, without `Id`: `starts at`, `patient`. */
  readonly text: string
  readonly type: FieldType
  /** The values of an `enum`. */
  readonly values: readonly string[]
  /** The resource that a `ref` refers to. */
  readonly target: Words | undefined
  readonly isOptional: boolean
  readonly isUnique: boolean
}

// Fields that every resource has, and the parameters of lists.
const taken = new Set(['id', 'createdAt', 'version', 'page', 'perPage', 'after', 'sort', 'fields'])
const typeList = Object.keys(fieldTypes)
  .map((name) => ({ enum: 'enum:<a>,<b>', ref: 'ref:<resource>' })[name] ?? name)
  .join(', ')

/** Reads the specifications of fields. Throws a {@link Refusal} that lists the types for one that is invalid. */
export function readFields(specifications: readonly string[]): Field[] {
  const fields = specifications.map(readField)
  const repeated = fields.find(({ name }, index) => fields.findIndex((other) => other.name === name) < index)
  if (repeated !== undefined) throw new Refusal(`The field "${repeated.name}" is given twice. Remove one of them.`)
  return fields
}

function readField(specification: string): Field {
  const [given = '', typeName = '', ...rest] = specification.split(':')
  const type = Object.hasOwn(fieldTypes, typeName) ? fieldTypes[typeName] : undefined
  const argument = typeName === 'enum' || typeName === 'ref' ? (rest.shift() ?? '') : undefined
  const isUnique = rest.includes('unique')
  const isOptional = rest.includes('optional')
  const isRead = new Set(rest).size === rest.length && rest.length === Number(isUnique) + Number(isOptional)
  if (!/^[a-z][a-zA-Z0-9]{0,29}$/.test(given) || type === undefined || !isRead) throw refused(specification, 'is not a field')
  const base = typeName === 'ref' ? given.replace(/Id$/, '') : given
  const name = typeName === 'ref' ? `${base}Id` : given
  if (taken.has(name)) throw refused(specification, `has the name "${name}", which has another meaning`)
  if (isUnique && typeName !== 'string') throw refused(specification, 'cannot be unique: only a string can')
  const values = typeName === 'enum' ? (argument as string).split(',') : []
  const isList =
    new Set(values).size === values.length && values.length > 1 && values.every((value) => /^[a-z0-9][a-z0-9_-]{0,39}$/.test(value))
  if (typeName === 'enum' && !isList) throw refused(specification, 'needs two or more values in lower case, separated by commas')
  const target = typeName === 'ref' ? targetOf(argument as string) : undefined
  if (typeName === 'ref' && target === undefined) throw refused(specification, 'needs the plural name of a resource')
  const text = base.replaceAll(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`)
  return { name, text, type, values, target, isOptional, isUnique }
}

function targetOf(name: string) {
  const words = nounOf(name)
  return words !== undefined && pluralize.plural(name) === name ? words : undefined
}

function refused(specification: string, problem: string) {
  return new Refusal(
    `"${specification}" ${problem}. Write <name>:<type>, and :optional or :unique after it, with one of these types: ${typeList}.`
  )
}

/** Returns the operators by which lists are filtered: those of the type, and `eq` where few rows have the same value. */
export function filterOf({ type, isUnique }: Field): readonly string[] {
  return isUnique ? ['eq', ...type.filter] : type.filter
}

/** Returns two values of a field as code. A reference and a unique field have another value each time. */
export function samplesOf({ type, values, target, isUnique }: Field): readonly [string, string] {
  if (target !== undefined) return [`await add${target.Singular}(client)`, `await add${target.Singular}(client)`]
  if (values.length > 0) return [`'${values[0]}'`, `'${values[1]}'`]
  if (!isUnique) return type.samples
  return ['`First ${crypto.randomUUID()}`', '`Second ${crypto.randomUUID()}`']
}
