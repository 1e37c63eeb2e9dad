import { nearestName } from './nearest-name.ts'

const registerOptions = new Set(['prefix', 'logLevel', 'logSerializers'])

/**
 * The names of options, and of the members inside them. `true` is an option whose members are not checked. A table checks the members of an
 * object, `{ '*': table }` the values of a map whose keys the user chooses, and `[table]` the items of a list.
 */
export type Table = { readonly [name: string]: true | Table } | readonly [Table]

/** What to do in place of options that no longer exist, by name: `{ maxBodyBytes: 'Set bodyLimit of the route.' }`. */
export type Replacements = { readonly [name: string]: string }

/**
 * Requires that an object of options, and the objects inside it that the table describes, have only known names. Throws a `TypeError` of one line
 * for an unknown name: `jobs: options.stoer is unknown. Did you mean options.store?` `path` is the object as the user writes it; a place may
 * precede it, such as `POST /orders: config.idempotency`. A value that is not an object is not checked. `replacements` are what to do in place of
 * options that no longer exist.
 */
export function requireNames(plugin: string, path: string, value: unknown, table: Table, replacements: Replacements = {}): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    const inner = tableOf(table, name)
    if (inner === undefined)
      throw new TypeError(
        `${plugin}: ${memberOf(path, name)} is unknown. ${Object.hasOwn(replacements, name) ? replacements[name] : remedyOf(path, name, Object.keys(table))}`
      )
    if (inner !== true) requireNames(plugin, memberOf(path, name), member, inner)
  }
}

/** Does the same for the options of a Fastify plugin, which also have those of `register`: `prefix`, `logLevel` and `logSerializers`. */
export function requirePluginNames(plugin: string, options: object, names: Table, replacements: Replacements): void {
  const own = Object.entries(options).filter(([name]) => !registerOptions.has(name))
  requireNames(plugin, 'options', Object.fromEntries(own), names, replacements)
}

function tableOf(table: Table, name: string): Table | true | undefined {
  if (Array.isArray(table)) return table[0]
  const { '*': every } = table as { readonly '*'?: Table }
  return every ?? (Object.hasOwn(table, name) ? (table as Readonly<Record<string, Table>>)[name] : undefined)
}

function remedyOf(path: string, name: string, known: readonly string[]) {
  const nearest = nearestName(name, known)
  if (known.length === 0) return 'Remove it: there are no options.'
  if (nearest === undefined) return `Use only ${known.join(', ')}.`
  // The place before the path has been named already.
  return `Did you mean ${memberOf(path.split(': ').at(-1) as string, nearest)}?`
}

function memberOf(path: string, name: string) {
  if (/^[a-z_$][\w$]*$/i.test(name)) return `${path}.${name}`
  return `${path}[${/^\d+$/.test(name) ? name : JSON.stringify(name)}]`
}
