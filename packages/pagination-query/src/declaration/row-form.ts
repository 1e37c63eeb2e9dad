import type { JsonSchema } from '@concordat/plugin-kit/json-schema'
import type { FieldForm, RowForm } from '../list/field-form.ts'
import { allowsNull, alternativesOf, dayFormatOf, isNull } from './field.ts'
import type { ItemMembers } from './item-members.ts'

const types = new Set<unknown>(['string', 'integer', 'number', 'boolean'])
// What a schema has besides a type and limits changes how a serializer writes the value.
const applied = ['$ref', 'allOf', 'if', 'not']

/** Returns the form of rows of which only the identifier is certain to be in a response. The serializer writes required members first. */
export function rowForm({ schemas, required }: ItemMembers, id: string): RowForm {
  const names = [id, ...[...schemas.keys()].filter((name) => name !== id)]
  // Numeric names would come first in an object, and __proto__ does not define a member.
  if (names.some((name) => /^\d+$/.test(name) || name === '__proto__')) return new Map()
  return new Map(
    names.flatMap((name) => {
      const form = fieldForm(name, schemas.get(name) as JsonSchema, required.has(name))
      return form === undefined ? [] : [[name, form] as const]
    })
  )
}

function fieldForm(name: string, schema: JsonSchema, required: boolean): FieldForm | undefined {
  const branches = [schema['anyOf'] ?? [], schema['oneOf'] ?? []].flat() as JsonSchema[]
  if ([schema, ...branches].some((one) => applied.some((keyword) => keyword in one))) return undefined
  const values = alternativesOf(schema).filter((one) => !isNull(one))
  const texts = values.map((value) => value['const'])
  const choices = texts.length > 0 && texts.every((text) => typeof text === 'string') ? texts : undefined
  const [only] = values
  const type = choices === undefined ? only?.['type'] : 'string'
  const isPlain = choices !== undefined || (values.length === 1 && !('const' in (only as JsonSchema)) && only?.['format'] !== 'unsafe')
  if (!isPlain || !types.has(type)) return undefined
  return {
    name,
    type: type as FieldForm['type'],
    format: choices === undefined ? dayFormatOf(only) : undefined,
    choices,
    required,
    nullable: allowsNull(schema)
  }
}
