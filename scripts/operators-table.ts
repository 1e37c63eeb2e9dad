// The table of filter operators in docs/collections.md, from the operators of pagination-query.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

interface Operator {
  readonly meaning: string
  readonly kinds: readonly string[]
  readonly optIn?: true
  readonly needsNull?: true
}

const source = 'packages/pagination-query/src/list/operators.ts'

/** Returns the current table. */
export async function operatorsTable(root: string): Promise<string> {
  const { operatorOf } = (await import(pathToFileURL(join(root, source)).href)) as {
    readonly operatorOf: Readonly<Record<string, Operator>>
  }
  const rows = Object.entries(operatorOf).map(([name, { meaning, kinds, optIn, needsNull }]) => {
    const fields = needsNull ? 'any that can be null' : kinds.join(', ')
    return `| \`${name}\` | ${meaning} | ${fields}${optIn ? '; only where it is declared by name' : ''} |`
  })
  return ['| operator | the field is | kinds of fields |', '| --- | --- | --- |', ...rows].join('\n')
}
