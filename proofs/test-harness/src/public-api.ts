// Reads the public API of the packages from the committed reports in docs/api.
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** A part of a report: an entry point, or what the entry points of a package have in common. */
export interface Report {
  /** The package, without `@concordat/`. */
  readonly owner: string
  /** The entry point, for example `@concordat/webhooks/receiver`, or the title of what no entry point exports. */
  readonly entry: string
  readonly source: string
}

/** A function or variable of a report, or a member of a declaration. */
export interface Named {
  /** The package, without `@concordat/`. */
  readonly owner: string
  /** The entry point that exports it, or `undefined` for what is only referred to. */
  readonly entry: string | undefined
  /** Of the declaration: `interface`, `type`, `class`, `function` or `const`. */
  readonly kind: string
  /** The declaration of a member, and of a parameter its function; empty for a function or variable. */
  readonly type: string
  readonly name: string
  readonly isOptional: boolean
  /** Whether it is a member of a type inside the declaration. */
  readonly isNested: boolean
  /** Its type as written, without `| undefined`. */
  readonly text: string
  readonly allowsUndefined: boolean
  /** What a function or method returns, as written. */
  readonly returns: string | undefined
}

/** Returns the reports below a root folder, by package. */
export function readReports(root: string): Report[] {
  return globSync('docs/api/*.md', { cwd: root })
    .toSorted()
    .flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/^## (.*)\n\n```ts\n([^]*?)^```$/gm)].map(([, entry = '', source = '']) => ({
        owner: basename(file, '.md'),
        entry,
        source
      }))
    )
}

/** Returns what the reports below a root folder declare, from their lines: the compiler has written each member on a line of its own. */
export function readNames(root: string): Named[] {
  return readReports(root).flatMap((report) => {
    let declared = { type: '', kind: '', depth: 0 }
    const lines = report.source.split('\n')
    return lines.flatMap((line, index): Named[] => {
      const [, space = '', kind = '', declaredName = ''] = /^( *)(?:declare )?(interface|type|function|class|const) (\w+)/.exec(line) ?? []
      if (kind !== '') declared = { type: kind === 'const' ? '' : declaredName, kind, depth: space.length }
      const member = /^( *)(?:declare (?:const|function) |readonly )?'?(\w+)'?(\??)((?:<.*>)?\(.*|: .*)$/.exec(line)
      if (member === null || (member[1] === '' && kind !== 'const' && kind !== 'function')) return []
      const [, indent = '', name = '', mark, rest = ''] = member
      // A type of several lines ends with the bracket that closes it.
      const end = (/[({[]$/.test(rest) ? lines.slice(index).find((other) => new RegExp(`^${indent}[)}\\]]`).test(other)) : rest) ?? rest
      return [
        {
          owner: report.owner,
          entry: report.entry.startsWith('@') ? report.entry : undefined,
          kind: declared.kind,
          type: indent === '' ? '' : declared.type,
          name,
          isOptional: mark === '?',
          isNested: indent.length > declared.depth + 4,
          text: (end === rest ? rest : `${rest}…${end.trim()}`).replaceAll(/^: |;.*$| \| undefined/g, '').replace(/^\((.*)\)$/, '$1'),
          allowsUndefined: /\bundefined\b[^|]*$|: (unknown|any)\b/.test(end),
          returns: rest.startsWith(':') ? undefined : /.*\): (.*)$/.exec(rest.includes('): ') ? rest : end)?.[1]
        }
      ]
    })
  })
}
