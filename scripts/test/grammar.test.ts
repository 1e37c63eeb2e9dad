import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { checkGrammar } from '../check-grammar.ts'
import { keyOwners } from '../grammar.ts'
import { readPublicApi } from '../public-api.ts'
import { repository } from '../workspace.ts'

/** The report of a package: the declarations of each part, by its title. */
function report(name: string, parts: Readonly<Record<string, string>>) {
  const blocks = Object.entries(parts).map(([title, text]) => `\n## ${title}\n\n\`\`\`ts\n${text}\n\`\`\`\n`)
  return `# @concordat/${name}: the public API\n\nGenerated.\n${blocks.join('')}`
}

const contributing = '# Contributing\n\n| config key | package |\n|---|---|\n| `count` | other-things |\n\nMore.\n'

/** Checks the reports of packages, given as their parts. */
function check(t: Test, packages: Readonly<Record<string, Readonly<Record<string, string>>>>, table = contributing) {
  const api = Object.fromEntries(Object.entries(packages).map(([name, parts]) => [`${name}.md`, report(name, parts)]))
  return checkGrammar(t.testdir({ 'CONTRIBUTING.md': table, docs: { api } }))
}

const { configKeys }: { configKeys: Readonly<Record<string, string>> } = await import(
  join(repository, 'packages/plugin-kit/src/wiring/index.ts')
)

const config = (key: string) =>
  `declare module 'fastify' {\n    interface FastifyContextConfig {\n        ${key}?: string | undefined;\n    }\n}`

t.test('names that follow the grammar pass', async (t) => {
  const { problems } = check(t, {
    things: {
      '@concordat/things': [
        'interface ThingsOptions {',
        '    readonly maxThings?: number | undefined;',
        '    readonly leaseSeconds?: number | undefined;',
        '    readonly retryDelaySeconds: (attempt: number) => number;',
        '    readonly maxEventLoopDelayMs?: number | undefined;',
        '    readonly store?: ThingStore | undefined;',
        '    readonly queue?: WorkQueue | undefined;',
        '    readonly value?: unknown;',
        '    readonly rateLimit?: Limit | undefined;',
        '    readonly onTimeout?: (() => void) | undefined;',
        '}',
        'interface ThingStore {',
        '    take(id: string, leaseMs: number): Promise<void>;',
        '    readonly leaseMs: number;',
        '}',
        'declare function memoryThingStore(): ThingStore & Closable;',
        'declare const thingsErrors: ErrorList;',
        'declare const version: 1;'
      ].join('\n'),
      '@concordat/things/testing':
        "export { RunTest } from '@concordat/plugin-kit/testing'\ndeclare function thingStoreContract(test: RunTest): void;",
      'Added to other packages': `${config('things')}\n${config('[symbol]')}`,
      'Referred to, not exported': 'interface Store {\n}\n'
    },
    'other-things': {
      '@concordat/other-things':
        'interface OtherOptions {\n    readonly store: OtherStore;\n    readonly nested: {\n        readonly maxThings: string;\n    };\n}\ndeclare const otherThingsErrors: ErrorList<{}>;',
      'Added to other packages': config('count')
    }
  })
  t.strictSame(problems, [])
})

const wrongs: [title: string, source: string, problem: string][] = [
  ['a limit that is called maximum', 'interface A {\n maximumWaiters: number\n}', 'A.maximumWaiters is a limit. Name it max… or min….'],
  ['a limit that is called longest', 'interface A {\n longestRunSeconds: number\n}', 'A.longestRunSeconds is a limit.'],
  ['a limit that is called atMost', 'declare const atMost: number;', 'atMost is a limit.'],
  ['a limit with a suffix', 'interface A {\n queryLimit?: number | undefined\n}', 'A.queryLimit is a limit.'],
  [
    'a duration without a unit',
    'interface A {\n storeTimeout?: number | undefined\n}',
    'A.storeTimeout is a duration. End its name with Ms, Seconds, Minutes or Days.'
  ],
  ['a duration in another unit', 'interface A {\n leaseMilliseconds: number\n}', 'A.leaseMilliseconds is a duration.'],
  ['a function that returns a duration without a unit', 'interface A {\n delay: (attempt: number) => number\n}', 'A.delay is a duration.'],
  ['durations in a list without a unit', 'interface A {\n retryDelay: readonly number[]\n}', 'A.retryDelay is a duration.'],
  [
    'an option in milliseconds',
    'interface AOptions {\n leaseMs: number\n}',
    'AOptions.leaseMs is configured by a person. Use seconds or days.'
  ],
  ['a route config in minutes', 'type AConfig = {\n leaseMinutes: number\n}', 'AConfig.leaseMinutes is configured by a person.'],
  [
    'a grace period without a noun',
    'interface A {\n graceSeconds: number\n}',
    'A.graceSeconds does not say what the grace period is for. Add a noun, for example stopGraceSeconds.'
  ],
  ['a store without a noun', 'interface Store {\n}', 'Store does not say what it stores. Name it <Noun>Store.'],
  [
    'a function that makes a store and is not named after it',
    'declare function createThings(): Promise<ThingStore>;',
    'createThings returns ThingStore. Name it memory, postgres or redis and the <Noun>Store that it returns.'
  ],
  ['a function that is named like a store', 'declare function memoryThingStore(): Things;', 'memoryThingStore returns no <Noun>Store.'],
  ['an option with a store', 'interface AOptions {\n things: ThingStore\n}', 'AOptions.things is a store. Name it store.'],
  [
    'an option with one of two stores',
    'interface AOptions {\n store: ThingStore\n others: OtherStore\n}',
    'AOptions.others is one of several stores. Make them the members of an option stores.'
  ],
  ['an option with stores', 'interface AOptions {\n all: PostgresStores\n}', 'AOptions.all has several stores. Name it stores.'],
  ['an option with a queue', 'interface AOptions {\n work: WorkQueue\n}', 'AOptions.work is a work queue. Name it queue.'],
  ['an error list', 'declare const faults: ErrorList;', 'faults is an error list. Name it thingsErrors.'],
  [
    'a contract in a main entry point',
    'declare function thingStoreContract(): void;',
    'thingStoreContract is a test tool. Export it from the entry point "./testing" only.'
  ],
  ['a test runner that is exported again', "export { RunTest } from '@concordat/plugin-kit/testing'", 'RunTest is a test tool.'],
  ['an optional member without undefined', 'interface A {\n name?: string\n}', 'A.name is optional. Write name?: Type | undefined.'],
  ['an optional method', 'interface A {\n close?(): Promise<void>\n}', 'A.close is optional. Write name?: Type | undefined.'],
  [
    'an optional member of a parameter',
    "declare function a(options: {\n 'name'?: string }): void;",
    'a.name is optional. Write name?: Type | undefined.'
  ]
]

for (const [title, source, problem] of wrongs) {
  t.test(`${title} is refused`, async (t) => {
    const { problems } = check(t, { things: { '@concordat/things': source } })
    t.equal(problems.length, 1, problems.join('\n'))
    t.equal(problems[0]?.slice(0, problem.length + 19), `@concordat/things: ${problem}`)
  })
}

t.test('an option with different types in two packages is refused, with both', async (t) => {
  const { problems } = check(t, {
    one: { '@concordat/one': 'interface OneOptions {\n scope?: (() => string) | undefined\n}' },
    two: { '@concordat/two': 'interface TwoOptions {\n scope: string\n}\ninterface MoreOptions {\n scope: string\n}' }
  })
  t.strictSame(problems, [
    'The option scope has several types: () => string in @concordat/one (OneOptions); string in @concordat/two (TwoOptions). Rename it in one of them.'
  ])
})

t.test('a config key that has neither the name of its package nor a row in the table is refused', async (t) => {
  const { problems } = check(t, { things: { 'Added to other packages': config('thing') } })
  t.strictSame(problems, [
    '@concordat/things: config.thing does not have the name of its package. Rename it, or add it to the table in CONTRIBUTING.md.'
  ])
})

t.test('a config key of another package is refused', async (t) => {
  const { problems } = check(t, { things: { 'Added to other packages': config('count') } })
  t.strictSame(problems, [
    '@concordat/things: config.count belongs to @concordat/other-things, says the table in CONTRIBUTING.md. Declare it there only.'
  ])
})

t.test('an exception and a row that nothing needs are reported', async (t) => {
  const { problems, unused } = check(t, { things: { '@concordat/things': 'interface A {\n bodyLimit: number\n}' } })
  t.strictSame(problems, [])
  t.notMatch(unused, /bodyLimit/)
  t.ok(unused.includes('scripts/check-grammar.ts: no name needs the exception "webhookReceiverErrors" from the rule "errors". Remove it.'))
  t.ok(unused.includes('CONTRIBUTING.md: no package declares the config key count. Remove its row.'))
})

t.test('the table in CONTRIBUTING.md has the config keys that the start checks, except those with the name of their package', async (t) => {
  const listed = keyOwners(readFileSync(join(repository, 'CONTRIBUTING.md'), 'utf8'))
  const others = Object.entries(configKeys).filter(([key, owner]) => key !== owner)
  t.strictSame(Object.fromEntries(listed), Object.fromEntries(others))
})

t.test('the start checks every config key that a package declares', async (t) => {
  const augmentations = readPublicApi(repository).filter(({ isAugmentation, name }) => isAugmentation && name === 'FastifyContextConfig')
  const declared = augmentations.flatMap(({ package: owner, members }) =>
    members.filter(({ isNested }) => !isNested).map(({ name }) => [name, owner])
  )
  for (const [key = '', owner] of declared) t.equal(configKeys[key], owner, key)
  t.ok(declared.length > 15)
})

t.test('a report that is not TypeScript is an error with its name', async (t) => {
  t.throws(() => check(t, { things: { '@concordat/things': 'interface {' } }), { message: /^docs\/api\/things\.md, @concordat\/things: / })
})
