// Checks the section "Names of the public API" of CONTRIBUTING.md in the committed reports of docs/api.
import { type Named, readNames } from '@concordat/test-harness/public-api'
import { reportProblems } from './run.ts'
import { repository } from './workspace.ts'

type Rule = 'limits' | 'units' | 'seconds' | 'options' | 'optional'

interface Problem {
  readonly rule: Rule
  readonly name: string
  readonly line: string
}

const fastify = 'an option of Fastify or Node.js'

/** The names that a rule does not apply to, with the reason. */
const exceptions: Readonly<Record<Rule, Readonly<Record<string, string>>>> = {
  limits: { bodyLimit: fastify },
  units: {
    requestTimeout: fastify,
    keepAliveTimeout: fastify,
    headersTimeout: fastify,
    connectionsCheckingInterval: fastify,
    durationMilliseconds: 'a field of responses and of released descriptions'
  },
  seconds: { maxEventLoopDelayMs: 'a few milliseconds, as Node.js measures them' },
  options: {
    revocations: 'each package declares what it needs of revocations',
    routeConfig: "the config of a plugin's own routes; a function where the routes differ",
    store: 'the store of each package',
    stores: 'the stores of each package',
    version: 'a text in an envelope; a number in the data of webhooks',
    versions: 'the versions; what openapi describes of each version'
  },
  optional: { logger: `${fastify}, whose types accept no undefined` }
}
const limitWords = new Set('maximum minimum longest shortest most least largest smallest biggest'.split(' '))
const durationWords = new Set('timeout interval lifetime ttl duration delay grace lease window staleness tolerance idle age'.split(' '))
const units = new Set('ms seconds minutes days'.split(' '))
const otherUnits = new Set('milliseconds millisecond millis second secs sec minute mins hour hours'.split(' '))

/** Returns a line for each name in the reports below a root folder that breaks a rule, and for each exception that nothing needs. */
export function checkGrammar(root: string): { readonly problems: readonly string[]; readonly unused: readonly string[] } {
  const names = readNames(root)
  const found = [...names.flatMap(problemsOf), ...optionProblems(names)]
  const isException = ({ rule, name }: Problem) => Object.hasOwn(exceptions[rule], name)
  const unused = Object.entries(exceptions).flatMap(([rule, reasons]) =>
    Object.keys(reasons).filter((name) => !found.some((problem) => problem.rule === rule && problem.name === name))
  )
  return {
    problems: [...new Set(found.filter((problem) => !isException(problem)).map(({ line }) => line))],
    unused: unused.map((name) => `scripts/check-grammar.ts: nothing needs the exception ${name}. Remove it.`)
  }
}

function problemsOf({ owner, type, name, isOptional, text, allowsUndefined }: Named): Problem[] {
  const found: Problem[] = []
  const add = (rule: Rule, problem: string) =>
    found.push({ rule, name, line: `@concordat/${owner}: ${type}${type && '.'}${name} ${problem}` })
  // TypeScript merges the declarations of FastifySchema with those of @fastify/swagger only if the types are the same.
  if (isOptional && !allowsUndefined && type !== 'FastifySchema') add('optional', 'is optional. Write name?: Type | undefined.')
  if (/(Options|Definition|Rules|Config)$/.test(type) && /(Ms|Minutes)$/.test(name))
    add('seconds', 'is configured by a person. Use seconds or days.')
  if (!/^(readonly )?number(\[\])?$|=> number$/.test(text)) return found
  const words = name.split(/(?=[A-Z])/).map((word) => word.toLowerCase())
  const last = words.at(-1) as string
  if (words.some((word) => limitWords.has(word)) || (last === 'limit' && words.length > 1))
    add('limits', 'is a limit. Name it max… or min….')
  if (otherUnits.has(last) || (words.some((word) => durationWords.has(word)) && !units.has(last)))
    add('units', 'is a duration. End its name with Ms, Seconds, Minutes or Days.')
  return found
}

/** An option of one name has one type in all packages. */
function optionProblems(names: readonly Named[]): Problem[] {
  const options = names.filter(({ entry, isNested, type }) => entry !== undefined && !isNested && /(Options|Definition|Rules)$/.test(type))
  return [...Map.groupBy(options, ({ name }) => name)].flatMap(([name, same]): Problem[] => {
    const types = Map.groupBy(same, ({ text }) => text)
    if (types.size === 1 || new Set(same.map(({ owner }) => owner)).size === 1) return []
    const list = [...types].map(([text, [first]]) => `${text} in @concordat/${first?.owner} (${first?.type})`)
    return [{ rule: 'options', name, line: `The option ${name} has several types: ${list.join('; ')}. Rename it in one of them.` }]
  })
}

if (import.meta.main) {
  const { problems, unused } = checkGrammar(repository)
  reportProblems([...problems, ...unused])
}
