// The table of filter operators in docs/collections.md, from the operators of pagination-query.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

interface Operator {
  readonly meaning: string
  readonly kinds: readonly string[]
  readonly optIn?: true
  readonly needsNull?: true
}

const page = 'docs/collections.md'
const source = 'packages/pagination-query/src/list/operators.ts'

/** Returns the page with the current table. */
export async function operatorsTable(root: string): Promise<Map<string, string>> {
  const { operatorOf } = (await import(pathToFileURL(join(root, source)).href)) as {
    readonly operatorOf: Readonly<Record<string, Operator>>
  }
  const rows = Object.entries(operatorOf).map(([name, { meaning, kinds, optIn, needsNull }]) => {
    const fields = needsNull ? 'any that can be null' : kinds.join(', ')
    return `| \`${name}\` | ${meaning} | ${fields}${optIn ? '; only where it is declared by name' : ''} |`
  })
  const table = ['| operator | the field is | kinds of fields |', '| --- | --- | --- |', ...rows].join('\n')
  const text = readFileSync(join(root, page), 'utf8')
  return new Map([[page, text.replace(/(<!-- operators:start -->\n)[\s\S]*(<!-- operators:end -->)/, `$1${table}\n$2`)]])
}
