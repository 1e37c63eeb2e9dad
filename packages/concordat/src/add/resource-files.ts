import { join } from 'node:path'
import { examples, type Files, readTemplates, starter, withTypeBox } from 'create-concordat'
import { codeOf, columnOf, constraintOf, errorsOf, isRefused, repositoryOf } from './constraints.ts'
import { type Field, filterOf, readFields } from './fields.ts'
import type { Project } from './project.ts'
import { typeboxSchemas, zodSchemas } from './resource-schemas.ts'
import { testFiles } from './resource-tests.ts'
import { listed, wrapped } from './source-text.ts'
import { renamed, type Words, wordsOf } from './words.ts'

/** A resource that is added, and what its files are made of. */
export interface Resource extends Words {
  readonly fields: readonly Field[]
  /** The files, without the migration. */
  readonly files: (version: string) => Files
  readonly migration: string
  /** The name of its list of errors, if it has errors of its own. */
  readonly errors: string | undefined
}

/** Returns a resource of the given fields, by default a unique name. Throws a `Refusal` for a name or a field that it cannot have. */
export function resourceOf(project: Project, name: string, specifications: readonly string[]): Resource {
  const template = readTemplates(join(examples, starter), project.chosen)
  const code = [...template].flatMap(([path, text]) => (path.startsWith('src/authors/') ? [text] : [])).join('\n')
  const words = wordsOf(name, code)
  const fields = readFields(specifications.length === 0 ? ['name:string:unique'] : specifications)
  const routes = template.get('src/authors/routes.ts') as string
  const errors = fields.some(isRefused) ? `${words.one}Errors` : undefined
  const folder = `src/${words.path}`
  return {
    ...words,
    fields,
    errors,
    migration: migrationOf(words, fields, specifications),
    files: (version) =>
      new Map([
        [`${folder}/schemas.ts`, schemasOf(project, words, fields)],
        [`${folder}/repository.ts`, repositoryOf(words, fields)],
        [`${folder}/routes.ts`, wrapped(withErrors(renamed(routes, words), words, fields))],
        ...(errors === undefined ? [] : [[`${folder}/errors.ts`, errorsOf(words, fields)] as const]),
        ...testFiles(project, words, fields, version)
      ])
  }
}

function schemasOf({ chosen }: Project, words: Words, fields: readonly Field[]) {
  return chosen.has('zod') ? zodSchemas(words, fields) : withTypeBox(typeboxSchemas(words, fields), chosen)
}

function migrationOf(words: Words, fields: readonly Field[], specifications: readonly string[]) {
  const { table, path } = words
  const columns = fields.map((field) => {
    const { name, type, values, target, isOptional, isUnique } = field
    const column = columnOf(name)
    const rest = [
      ...(isOptional ? [] : ['NOT NULL']),
      ...(isUnique ? [`CONSTRAINT ${constraintOf(words, field)} UNIQUE`] : []),
      ...(target === undefined ? [] : [`CONSTRAINT ${constraintOf(words, field)} REFERENCES ${target.table}`]),
      ...(values.length === 0 ? [] : [`CHECK (${column} IN (${values.map((value) => `'${value}'`).join(', ')}))`])
    ]
    return [`  ${column}`, type.column, ...rest].join(' ')
  })
  const sorted = fields.filter(({ type }) => type.isSorted).map(({ name }) => `(${columnOf(name)}, id)`)
  const equal = fields.filter((field) => filterOf(field).includes('eq')).map(({ name }) => `(${columnOf(name)}, created_at, id)`)
  return `-- npx concordat add resource ${[path, ...specifications].join(' ')}
CREATE TABLE ${table} (
  id uuid PRIMARY KEY,
${columns.join(',\n')},
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  version uuid NOT NULL DEFAULT gen_random_uuid()
);
${['(created_at, id)', ...sorted, ...equal].map((index) => `CREATE INDEX ON ${table} ${index};`).join('\n')}
CREATE TRIGGER ${table}_version BEFORE UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION next_version();
`
}

/** Returns the routes with the errors of their writes. Those of the template have the error of a unique name. */
function withErrors(text: string, words: Words, fields: readonly Field[]) {
  const codes = fields.filter(isRefused).map((field) => `'${codeOf(words, field)}'`)
  return text.replaceAll(/,\n( *)openapi: \{ errors: \['\w+_EXISTS'\](?:, (headers: .*))? \}/g, (_, indent: string, headers?: string) => {
    const rest = headers === undefined ? [] : [headers]
    if (codes.length === 0) return rest.length === 0 ? '' : `,\n${indent}openapi: { ${headers} }`
    const errors = `errors: [${codes.join(', ')}]`
    const object = listed(`${indent}openapi: `, ['{ ', ' }'], [errors, ...rest])
    return `,\n${object.replace(/^ *errors: .*?(,?)$/m, (line, comma: string) => listed(/^ *errors: /.exec(line)?.[0] ?? '', ['[', ']'], codes, comma))}`
  })
}
