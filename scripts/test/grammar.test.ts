import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readNames } from '@concordat/test-harness/public-api'
import t, { type Test } from 'tap'
import { checkGrammar } from '../check-grammar.ts'
import { repository } from '../workspace.ts'

/** Checks the reports of packages, given as the declarations of their main entry points. */
function check(t: Test, packages: Readonly<Record<string, string>>) {
  const reports = Object.entries(packages).map(([name, text]) => [`${name}.md`, `## @concordat/${name}\n\n\`\`\`ts\n${text}\n\`\`\`\n`])
  return checkGrammar(t.testdir({ docs: { api: Object.fromEntries(reports) } }))
}

t.test('names that follow the grammar pass, and an exception that nothing needs is reported', async (t) => {
  const members = [
    'maxThings?: number | undefined;',
    'retryDelaySeconds: (attempt: number) => number;',
    'value?: unknown;',
    'onTimeout?: (() => void) | undefined;',
    'deep?: {\n        readonly count: number;\n    } | undefined;',
    'bodyLimit: number;'
  ]
  const one = `interface ThingsOptions {\n${members.map((member) => `    readonly ${member}\n`).join('')}}\ndeclare const version: 1;`
  const { problems, unused } = check(t, { one, two: 'interface TwoOptions {\n    readonly value?: unknown;\n}' })
  t.strictSame(problems, [])
  t.notMatch(unused, /bodyLimit/)
  t.match(unused, [/nothing needs the exception requestTimeout\. Remove it\./])
})

const wrongs: [source: string, problem: string][] = [
  ['interface A {\n    maximumWaiters: number;\n}', 'A.maximumWaiters is a limit. Name it max… or min….'],
  ['interface A {\n    queryLimit?: number | undefined;\n}', 'A.queryLimit is a limit.'],
  ['declare const longestRun: number;', 'longestRun is a limit.'],
  ['interface A {\n    storeTimeout: number;\n}', 'A.storeTimeout is a duration. End its name with Ms, Seconds, Minutes or Days.'],
  ['interface A {\n    leaseMilliseconds: number;\n}', 'A.leaseMilliseconds is a duration.'],
  ['interface A {\n    delay: (attempt: number) => number;\n}', 'A.delay is a duration.'],
  ['interface A {\n    retryDelay: readonly number[];\n}', 'A.retryDelay is a duration.'],
  ['interface AOptions {\n    leaseMs: number;\n}', 'AOptions.leaseMs is configured by a person. Use seconds or days.'],
  ['type AConfig = {\n    leaseMinutes: number;\n}', 'AConfig.leaseMinutes is configured by a person.'],
  ['interface A {\n    name?: string;\n}', 'A.name is optional. Write name?: Type | undefined.'],
  ['interface A {\n    close?(): Promise<void>;\n}', 'A.close is optional.'],
  ['interface A {\n    deep?: {\n        a: 1;\n    };\n}', 'A.deep is optional.'],
  ["declare function a(options: {\n    'name'?: string;\n}): void;", 'a.name is optional.']
]

for (const [source, problem] of wrongs)
  t.test(`refused: ${problem}`, async (t) => {
    const { problems } = check(t, { things: source })
    t.equal(problems.length, 1, problems.join('\n'))
    t.ok(problems[0]?.startsWith(`@concordat/things: ${problem}`), String(problems))
  })

t.test('an option with different types in two packages is refused, with both', async (t) => {
  const { problems } = check(t, {
    one: 'interface OneOptions {\n    scope?: (() => string) | undefined;\n}',
    two: 'interface TwoOptions {\n    scope: string;\n}\ninterface MoreOptions {\n    scope: string;\n}'
  })
  t.strictSame(problems, [
    'The option scope has several types: () => string in @concordat/one (OneOptions); string in @concordat/two (TwoOptions). Rename it in one of them.'
  ])
})

const { configKeys }: { configKeys: Readonly<Record<string, string>> } = await import(
  join(repository, 'packages/plugin-kit/src/wiring/index.ts')
)

t.test('the table in CONTRIBUTING.md has the config keys that the start checks, except those with the name of their package', async (t) => {
  const [, table = ''] = readFileSync(join(repository, 'CONTRIBUTING.md'), 'utf8').split('\n| config key | package |\n')
  const rows = [...(table.split(/\n(?!\|)/)[0] as string).matchAll(/^\| `(\w+)` \| ([\w-]+) \|$/gm)].map(([, key, owner]) => [key, owner])
  t.strictSame(Object.fromEntries(rows), Object.fromEntries(Object.entries(configKeys).filter(([key, owner]) => key !== owner)))
})

t.test('the start checks every config key that a package declares', async (t) => {
  const declared = readNames(repository).filter(({ type, isNested }) => type === 'FastifyContextConfig' && !isNested)
  t.ok(declared.length > 15)
  for (const { name, owner } of declared) t.equal(configKeys[name], owner, name)
})
