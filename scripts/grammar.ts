// The rules of the section "Names of the public API" of CONTRIBUTING.md.
import type { ApiMember, Declared, TypeText } from './public-api.ts'

/** A rule of the section. */
export type Rule = 'limits' | 'units' | 'seconds' | 'options' | 'stores' | 'errors' | 'testing' | 'keys' | 'optional'

/** A name that breaks a rule. */
export interface Problem {
  readonly rule: Rule
  /** The member or the export. */
  readonly name: string
  readonly line: string
}

/** The types that a person fills in. */
const configured = /(Options|Definition|Rules|Config)$/
const stores = ['memory', 'postgres', 'redis']
const limitWords = new Set('maximum minimum longest shortest most least largest smallest biggest'.split(' '))
const durationWords = new Set('timeout interval lifetime ttl duration delay grace lease window staleness tolerance idle age'.split(' '))
const units = new Set('ms seconds minutes days'.split(' '))
const otherUnits = new Set('milliseconds millisecond millis second secs sec minute mins hour hours'.split(' '))

/** Returns the names of the API that break a rule. `owners` is the table of config keys. */
export function problemsOf(api: readonly Declared[], owners: ReadonlyMap<string, string>): Problem[] {
  return [
    ...api.flatMap((declared) => [...exportProblems(declared), ...declared.members.flatMap((member) => memberProblems(declared, member))]),
    ...optionProblems(api),
    ...keyProblems(api, owners)
  ]
}

/** Returns the package that owns each config key, from the table of CONTRIBUTING.md. */
export function keyOwners(contributing: string): Map<string, string> {
  const [, table = ''] = contributing.split('\n| config key | package |\n')
  const rows = table.split(/\n(?!\|)/)[0] ?? ''
  return new Map([...rows.matchAll(/^\| `(\w+)` \| ([\w-]+) \|/gm)].map(([, key = '', owner = '']) => [key, owner]))
}

function exportProblems({ package: owner, entry, kind, name, type }: Declared): Problem[] {
  if (entry === undefined) return []
  const found: Problem[] = kind === 'variable' ? numberProblems(entry, '', name, type) : []
  const add = (rule: Rule, text: string, exception = name) => found.push({ rule, name: exception, line: `${entry}: ${name} ${text}` })
  if (/(Contract|^RunTest)$/.test(name) && !entry.endsWith('/testing'))
    add('testing', 'is a test tool. Export it from the entry point "./testing" only.', `${name} of ${owner}`)
  if (kind === 'interface' && name === 'Store') add('stores', 'does not say what it stores. Name it <Noun>Store.')
  const store = type?.names.find((part) => part.endsWith('Store'))
  if (kind === 'function' && (store ?? name).endsWith('Store') && !stores.some((where) => name === `${where}${store}`))
    add('stores', `returns ${store ?? 'no <Noun>Store'}. Name it memory, postgres or redis and the <Noun>Store that it returns.`)
  const list = `${camel(owner)}Errors`
  if (kind === 'variable' && type?.names.includes('ErrorList') && name !== list) add('errors', `is an error list. Name it ${list}.`)
  return found
}

function memberProblems({ package: owner, name: type, members }: Declared, member: ApiMember): Problem[] {
  const { name, isOptional, isMethod } = member
  const found = numberProblems(`@concordat/${owner}`, `${type}.`, name, member.type)
  const add = (rule: Rule, text: string, exception = name) =>
    found.push({ rule, name: exception, line: `@concordat/${owner}: ${type}.${name} ${text}` })
  if (name === 'graceSeconds') add('units', 'does not say what the grace period is for. Add a noun, for example stopGraceSeconds.')
  if (isOptional && (isMethod || !member.type?.allowsUndefined))
    add('optional', 'is optional. Write name?: Type | undefined.', type === 'FastifySchema' ? type : name)
  if (!configured.test(type)) return found
  if (/(Ms|Minutes)$/.test(name)) add('seconds', 'is configured by a person. Use seconds or days.')
  const names = member.type?.names ?? []
  if (names.some((part) => part.endsWith('Store')) && name !== 'store') {
    const isOne = members.filter((other) => other.type?.names.some((part) => part.endsWith('Store'))).length === 1
    add('stores', isOne ? 'is a store. Name it store.' : 'is one of several stores. Make them the members of an option stores.')
  }
  if (names.some((part) => part.endsWith('Stores')) && name !== 'stores') add('stores', 'has several stores. Name it stores.')
  if (names.includes('WorkQueue') && name !== 'queue') add('stores', 'is a work queue. Name it queue.')
  return found
}

/** The problems of a number: its limit or its unit. */
function numberProblems(where: string, path: string, name: string, type: TypeText | undefined): Problem[] {
  if (!/^(readonly )?number(\[\])?$|=> number$/.test(type?.text ?? '')) return []
  const words = name.split(/(?=[A-Z])/).map((word) => word.toLowerCase())
  const last = words.at(-1) as string
  const found: Problem[] = []
  const add = (rule: Rule, text: string) => found.push({ rule, name, line: `${where}: ${path}${name} ${text}` })
  if (words.some((word) => limitWords.has(word)) || (last === 'limit' && words.length > 1))
    add('limits', 'is a limit. Name it max… or min….')
  if (otherUnits.has(last) || (words.some((word) => durationWords.has(word)) && !units.has(last)))
    add('units', 'is a duration. End its name with Ms, Seconds, Minutes or Days.')
  return found
}

/** An option of one name has one type in all packages. */
function optionProblems(api: readonly Declared[]): Problem[] {
  const options = api.flatMap(({ package: owner, entry, name: type, members }) =>
    entry === undefined || !/(Options|Definition|Rules)$/.test(type)
      ? []
      : members.filter(({ isNested }) => !isNested).map((member) => ({ owner, type, name: member.name, of: meaningOf(member) }))
  )
  return [...Map.groupBy(options, ({ name }) => name)].flatMap(([name, same]): Problem[] => {
    const owners = new Set(same.map(({ owner }) => owner))
    const types = Map.groupBy(same, ({ of }) => of)
    if (owners.size === 1 || types.size === 1) return []
    const list = [...types].map(([of, [first]]) => `${of} in @concordat/${first?.owner} (${first?.type})`)
    return [{ rule: 'options', name, line: `The option ${name} has several types: ${list.join('; ')}. Rename it in one of them.` }]
  })
}

/** The type of an option, where each store counts as the same. */
function meaningOf({ type }: ApiMember) {
  return (type?.text ?? 'unknown').replace(/^\w+Store$/, '<Noun>Store')
}

/** A key of a route's `config` belongs to one package: the owner in the table, or the package of that name. */
function keyProblems(api: readonly Declared[], owners: ReadonlyMap<string, string>): Problem[] {
  return api
    .filter(({ isAugmentation, name }) => isAugmentation && name === 'FastifyContextConfig')
    .flatMap(({ package: owner, members }) =>
      members.flatMap(({ name, isNested }): Problem[] => {
        const listed = owners.get(name)
        if (isNested || (listed ?? (camel(owner) === name ? owner : undefined)) === owner) return []
        const fix =
          listed === undefined
            ? 'does not have the name of its package. Rename it, or add it to the table in CONTRIBUTING.md.'
            : `belongs to @concordat/${listed}, says the table in CONTRIBUTING.md. Declare it there only.`
        return [{ rule: 'keys', name, line: `@concordat/${owner}: config.${name} ${fix}` }]
      })
    )
}

function camel(name: string) {
  return name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}
