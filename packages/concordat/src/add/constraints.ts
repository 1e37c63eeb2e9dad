import type { Field } from './fields.ts'
import { listed, width } from './source-text.ts'
import type { Words } from './words.ts'

// Words that PostgreSQL reserves. A column with such a name is in quotes.
const reserved = new Set(
  `all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column concurrently constraint create
  cross current_catalog current_date current_role current_schema current_time current_timestamp current_user default deferrable desc distinct do else end
  except false fetch for foreign freeze from full grant group having ilike in initially inner intersect into is isnull join lateral leading left like
  limit localtime localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references returning right select
  session_user similar some symmetric system_user table tablesample then to trailing true union unique user using variadic verbose when where window
  with`.split(/\s+/)
)

/** Returns whether a value of the field can violate a constraint. */
export function isRefused({ isUnique, target }: Field) {
  return isUnique || target !== undefined
}

/** Returns the code of the error for a value of a field that violates its constraint. */
export function codeOf({ code }: Words, { text, isUnique }: Field): string {
  const field = text.replaceAll(' ', '_').toUpperCase()
  return isUnique ? `${code}_${field}_IN_USE` : `UNKNOWN_${code}_${field}`
}

function keyOf({ Singular }: Words, { name }: Field) {
  return `unknown${Singular}${name.replace(/Id$/, '').replace(/^./, (letter) => letter.toUpperCase())}`
}

/** Returns the column of a field. */
export function columnOf(name: string) {
  const column = name.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`)
  return reserved.has(column) ? `"${column}"` : column
}

/** Returns the name of the constraint of a field. PostgreSQL cuts longer names. */
export function constraintOf({ table }: Words, { name, isUnique }: Field) {
  return `${table}_${columnOf(name).replaceAll('"', '')}_${isUnique ? 'key' : 'fkey'}`.slice(0, 63)
}

/** Returns the statements of a resource, with the errors for its constraints. */
export function repositoryOf(words: Words, fields: readonly Field[]) {
  const { one, plural } = words
  const violations = fields.filter(isRefused).map((field) => {
    const details = field.isUnique ? [] : [`errors: [{ field: 'body.${field.name}', key: '${keyOf(words, field)}' }]`]
    const call = `${one}Errors.create('${codeOf(words, field)}'`
    const line = `    ${constraintOf(words, field)}: () => ${call}${details.length === 0 ? '' : `, { ${details[0]} }`})`
    if (line.length < width) return line
    const rest = details.length === 0 ? [')'] : [listed(`      ${call}, `, ['{ ', ' }'], details, ')').slice(call.length + 6)]
    return `    ${constraintOf(words, field)}: () =>\n      ${call}${rest.join('')}`
  })
  const errors = violations.length === 0 ? '' : `import { ${one}Errors } from './errors.ts'\n`
  const options = violations.length === 0 ? '' : `, {\n  violations: {\n${violations.join(',\n')}\n  }\n}`
  return `import { table } from '@concordat/postgres/table'
${errors}import { ${one}Collection } from './schemas.ts'

/** The statements of ${plural}. */
export const ${one}Table = table(${one}Collection${options})
`
}

/** Returns the errors for values that violate a constraint. */
export function errorsOf(words: Words, fields: readonly Field[]) {
  const refused = fields.filter(isRefused)
  const definitions = refused.map((field) => {
    const [status, message, remedy] = field.isUnique
      ? [409, `The ${field.text} is in use. Choose another one.`, `Choose another ${field.text}.`]
      : [
          422,
          `The ${field.text} does not exist. Choose one from /${field.target?.path}.`,
          `Send the id of an item of /${field.target?.path}.`
        ]
    return `${codeOf(words, field)}: {\n  statusCode: ${status},\n  message: { en: '${message}' },\n  remedy: '${remedy}'\n}`
  })
  const keys = refused
    .filter(({ isUnique }) => !isUnique)
    .map((field) => `${keyOf(words, field)}: { en: 'is not an id from /${field.target?.path}' }`)
  const parts = [definitions, keys].filter((part) => part.length > 0).map((part) => `{\n${indented(part.join(',\n'))}\n}`)
  return `import { defineErrors } from '@concordat/conventions'

export const ${words.one}Errors = defineErrors(${parts.length === 1 ? parts[0] : `\n${indented(parts.join(',\n'))}\n`})
`
}

function indented(text: string) {
  return text.replaceAll(/^/gm, '  ')
}
