import { type Field, filterOf } from './fields.ts'
import { listed, width } from './source-text.ts'
import type { Words } from './words.ts'

// An enum has a constant, because its list may need several lines.
function schemaOf({ type, values, name }: Field, library: 'typebox' | 'zod') {
  return values.length > 0 ? `${name}Schema` : type[library]
}

/** Returns the schemas of a resource and its collection, written with TypeBox. */
export function typeboxSchemas({ Singular, Plural, ...words }: Words, fields: readonly Field[]) {
  const members = fields.map(
    (field) => `  ${field.name}: ${field.isOptional ? `Type.Optional(${schemaOf(field, 'typebox')})` : schemaOf(field, 'typebox')}`
  )
  const removable = fields
    .filter(({ isOptional }) => isOptional)
    .map((field) => `    ${field.name}: removable(${schemaOf(field, 'typebox')})`)
  const enums = fields.flatMap(({ values, name }) =>
    values.length === 0
      ? []
      : [
          `${listed(
            `const ${name}Schema = Type.Union(`,
            ['[', ']'],
            values.map((value) => `Type.Literal('${value}')`),
            ')'
          )}\n`
        ]
  )
  const changes = `Type.Object({\n    ...New${Singular}.properties,\n${removable.join(',\n')}\n  })`
  return `import { collection } from '@concordat/pagination-query'
import { type Static, Type } from '@sinclair/typebox'
import { Id, ${removable.length > 0 ? 'removable, ' : ''}Timestamp } from '../fields.ts'

${enums.map((one) => `${one}\n`).join('')}export const New${Singular} = Type.Object({
${members.join(',\n')}
})

export const ${Singular}Changes = Type.Partial(${removable.length === 0 ? `New${Singular}` : `\n  ${changes}\n`})

export const ${Singular} = Type.Object({ id: Id, ...New${Singular}.properties, createdAt: Timestamp })
export type ${Singular} = Static<typeof ${Singular}>

export const ${Plural} = Type.Array(${Singular})

${collectionOf({ Singular, Plural, ...words }, fields)}`
}

/** Returns them written with Zod. */
export function zodSchemas(words: Words, fields: readonly Field[]) {
  const { Singular, Plural } = words
  const members = fields.map((field) => `  ${field.name}: ${schemaOf(field, 'zod')}${field.isOptional ? '.optional()' : ''}`)
  const removable = fields
    .filter(({ isOptional }) => isOptional)
    .map((field) => `  ${field.name}: ${schemaOf(field, 'zod')}.nullable().meta({ description: '\`null\` removes it.' })`)
  const enums = fields.flatMap(({ values, name }) =>
    values.length === 0
      ? []
      : [
          `${listed(
            `const ${name}Schema = z.enum(`,
            ['[', ']'],
            values.map((value) => `'${value}'`),
            ')'
          )}\n`
        ]
  )
  const changes = removable.length === 0 ? '' : `.extend({\n${removable.join(',\n')}\n})`
  const parts = [
    `export const ${Singular} = z`,
    `.object({ id: Id, ...New${Singular}.shape, createdAt: Timestamp })`,
    `.meta({ id: '${Singular}' })`
  ]
  const whole = parts.join('').length <= width ? parts.join('') : parts.join('\n  ')
  return `import { collection } from '@concordat/pagination-query'
import { z } from 'zod'
import { Id, Timestamp } from '../fields.ts'

${enums.map((one) => `${one}\n`).join('')}export const New${Singular} = z.object({
${members.join(',\n')}
})

export const ${Singular}Changes = New${Singular}${changes}.partial()

${whole}
export type ${Singular} = z.infer<typeof ${Singular}>

export const ${Plural} = z.array(${Singular})

${collectionOf(words, fields)}`
}

function collectionOf({ Singular, one, path }: Words, fields: readonly Field[]) {
  const keys = ['createdAt', ...fields.filter(({ type }) => type.isSorted).map(({ name }) => name)].map((name) => `'${name}'`)
  const filters = fields
    .filter((field) => filterOf(field).length > 0)
    .map(
      (field) =>
        `${field.name}: [${filterOf(field)
          .map((operator) => `'${operator}'`)
          .join(', ')}]`
    )
  const sort = listed('  sort: ', ['{ ', ' }'], [`keys: [${keys.join(', ')}]`]).replace(/^ {4}keys: \[(.*)\]$/m, () =>
    listed('    keys: ', ['[', ']'], keys)
  )
  return `/** How lists are sorted, filtered and divided into pages. */
export const ${one}Collection = collection(${Singular})({
  name: '${path}',
  style: 'cursor',
  id: 'id',
  defaultSort: ['-createdAt'],
${sort}${filters.length === 0 ? '' : `,\n${listed('  filter: ', ['{ ', ' }'], filters)}`}
})
`
}
