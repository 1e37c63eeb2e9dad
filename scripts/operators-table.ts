// The table of filter operators in docs/collections.md, from the operators of pagination-query.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { operatorNames, operatorOf } from '../packages/pagination-query/src/list/operators.ts'

const page = 'docs/collections.md'

/** Returns the page with the current table. */
export function operatorsTable(root: string): Map<string, string> {
  const rows = operatorNames.map((name) => {
    const { meaning, kinds, optIn, needsNull } = operatorOf[name]
    const fields = needsNull ? 'any that can be null' : kinds.join(', ')
    return `| \`${name}\` | ${meaning} | ${fields}${optIn ? '; only where it is declared by name' : ''} |`
  })
  const table = ['| operator | the field is | kinds of fields |', '| --- | --- | --- |', ...rows].join('\n')
  const text = readFileSync(join(root, page), 'utf8')
  return new Map([[page, text.replace(/(<!-- operators:start -->\n)[\s\S]*(<!-- operators:end -->)/, `$1${table}\n$2`)]])
}
