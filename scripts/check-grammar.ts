// Checks the section "Names of the public API" of CONTRIBUTING.md in the committed reports of docs/api.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { keyOwners, type Problem, problemsOf, type Rule } from './grammar.ts'
import { readPublicApi } from './public-api.ts'
import { repository } from './workspace.ts'

/** The result of the check. */
export interface GrammarReport {
  /** A line for each name that breaks a rule. */
  readonly problems: readonly string[]
  /** A line for each exception that nothing needs. */
  readonly unused: readonly string[]
}

const fastify = 'an option of Fastify or Node.js'

/** The names of members and exports that a rule does not apply to, with the reason. */
const exceptions: Readonly<Partial<Record<Rule, Readonly<Record<string, string>>>>> = {
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
    stores: 'the stores of each package',
    version: 'a text in an envelope; a number in the data of webhooks',
    versions: 'the versions; what openapi describes of each version'
  },
  errors: {
    postgresRowErrors: 'the list of the entry point @concordat/postgres/rows',
    webhookReceiverErrors: 'the list of the entry point @concordat/webhooks/receiver'
  },
  optional: {
    logger: `${fastify}, whose types accept no undefined`,
    FastifySchema: 'TypeScript merges the declarations with those of @fastify/swagger only if the types are the same'
  }
}

/** Checks the reports below a root folder against the grammar, and the config keys against the table of its CONTRIBUTING.md. */
export function checkGrammar(root: string): GrammarReport {
  const api = readPublicApi(root)
  const owners = keyOwners(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8'))
  const problems = problemsOf(api, owners)
  const isException = ({ rule, name }: Problem) => Object.hasOwn(exceptions[rule] ?? {}, name)
  const isNeeded = (rule: string, name: string) => problems.some((problem) => problem.rule === rule && problem.name === name)
  const keys = new Set(api.filter(({ name }) => name === 'FastifyContextConfig').flatMap(({ members }) => members.map(({ name }) => name)))
  return {
    problems: [...new Set(problems.filter((problem) => !isException(problem)).map(({ line }) => line))],
    unused: [
      ...Object.entries(exceptions).flatMap(([rule, names]) =>
        Object.keys(names)
          .filter((name) => !isNeeded(rule, name))
          .map((name) => `scripts/check-grammar.ts: no name needs the exception "${name}" from the rule "${rule}". Remove it.`)
      ),
      ...[...owners.keys()]
        .filter((key) => !keys.has(key))
        .map((key) => `CONTRIBUTING.md: no package declares the config key ${key}. Remove its row.`)
    ]
  }
}

if (import.meta.main) {
  const { problems, unused } = checkGrammar(repository)
  for (const line of [...problems, ...unused]) console.log(line)
  if (problems.length + unused.length > 0) process.exitCode = 1
}
