// Each option name of the committed API reports, with one wrong letter, is passed to the function or plugin that takes it.
import Fastify, { type FastifyInstance, type FastifyPluginAsync } from 'fastify'
import t, { type Test } from 'tap'
import { type OptionPlace, type OptionTree, type RouteConfigKey, readOptions } from './option-trees.ts'
import { type Exported, exportsOf, repository } from './source-exports.ts'

type Options = Readonly<Record<string, unknown>>

/** What the plugins add to a server. */
interface Started extends Omit<FastifyInstance, 'batch' | 'jobs' | 'webhooks'> {
  batch(path: string, options: unknown): void
  readonly jobs: {
    serve(job: unknown, path: string, options: unknown): void
    schedule(job: unknown, options: unknown): void
    start(job: unknown, input: unknown, options: unknown): unknown
  }
  readonly webhooks: { emit(type: string, data: unknown, options: unknown): unknown }
}

interface Queue {
  define(name: string, settings?: unknown): Promise<void>
  work(name: string, handler: unknown, options: unknown): unknown
}

// Types whose members are not options.
const values: Readonly<Record<string, readonly string[]>> = {
  'a value that the packages create or receive': [
    'plugin-kit.KnownError',
    'plugin-kit.Messages',
    'plugin-kit.ObservedRequest',
    'plugin-kit.PluralText',
    'plugin-kit.TextList',
    'client.Int64Places',
    'authentication.ApiKeyRecord',
    'authentication.Claims',
    'authentication.RequestPrincipal',
    'conditional-caching.LintedRoute',
    'idempotency.LintedRoute',
    'plugin-kit.JsonSchemaOptions',
    'plugin-kit.HostRequest',
    'plugin-kit.Link',
    'plugin-kit.MachineRequest',
    'openapi.BreakingChange',
    'plugin-kit.DescribedRoute',
    'openapi.DescribedRoute',
    'openapi.Finding',
    'openapi.LintedRoute',
    'openapi.OpenapiDocument',
    'openapi.RouteConfig',
    'pagination-query.Collection',
    'pagination-query.Condition',
    'pagination-query.KeyedRow',
    'pagination-query.ListQuery',
    'pagination-query.RelatedCollection',
    'pagination-query.Relation',
    'pagination-query.RowRules',
    'pagination-query.SortKey',
    'pagination-query.Total',
    'plugin-kit.GivenOptions',
    'plugin-kit.Contracts',
    'plugin-kit.MediaType',
    'plugin-kit.NotedRoute',
    'plugin-kit.Route',
    'postgres.DeletableTable',
    'postgres.Migration',
    'postgres.PGliteQueryOptions',
    'postgres.TableCollection',
    'plugin-kit.StepRoute',
    'versioning.LintedRoute',
    'webhooks.SignedMessage'
  ],
  'an instance': [
    'authentication.TrustedIssuer',
    'plugin-kit.Observer',
    'pagination-query.ClientLike',
    'pagination-query.PGliteLike',
    'pagination-query.PoolLike',
    'plugin-kit.Transactions',
    'plugin-kit.RouteLint',
    'testing.EndOfTest',
    'work-queue.Tracing'
  ],
  'a parameter of a call of the client, which TypeScript checks, because a check would be sent to every browser': [
    'client.BatchOptions',
    'client.JobResultOptions'
  ],
  'a parameter of an error that is thrown in a request': ['plugin-kit.ApiErrorOptions', 'plugin-kit.CreateOptions']
}
const excluded = new Set(Object.values(values).flat())

const described = 'The description of an option, whose members TypeScript checks.'

// Parameters and plugins that are not checked here, by entry point and name.
const exceptions: Readonly<Record<string, string>> = {
  '@concordat/batch plugin': 'It has no options, so no name is near.',
  '@concordat/client createClient': 'It refuses an unknown option without a suggestion, because it is sent to browsers.',
  '@concordat/client createSession': 'It has two options, which TypeScript checks, because it is sent to browsers.',
  '@concordat/client/webhooks verifyWebhook': 'It has one option, and refuses others without a suggestion, because it runs in workers.',
  '@concordat/conventions managedWebhookRoutes': 'It passes its options to managedWebhookRoutes of @concordat/webhooks, which checks them.',
  '@concordat/conventions webhookRoutes': 'It passes its options to webhookRoutes of @concordat/webhooks, which checks them.',
  '@concordat/plugin-kit/deadline withDeadline': 'Layer 0 has no dependencies, and it runs in every request.',
  '@concordat/plugin-kit/findings hasEnded': 'A waiver, whose form was checked.',
  '@concordat/plugin-kit/findings reasonsOf': 'Waivers, whose form was checked.',
  '@concordat/plugin-kit/findings waiveAtStart': 'It receives what waiveForService has checked.',
  '@concordat/plugin-kit/links originResolver': 'It receives all options of the calling plugin, which has checked them.',
  '@concordat/plugin-kit/options callback': described,
  '@concordat/plugin-kit/options describeOptions': 'The names of options that no longer exist.',
  '@concordat/plugin-kit/options duration': described,
  '@concordat/plugin-kit/options flag': described,
  '@concordat/plugin-kit/options group': described,
  '@concordat/plugin-kit/options headerName': described,
  '@concordat/plugin-kit/options integer': described,
  '@concordat/plugin-kit/options number': described,
  '@concordat/plugin-kit/options oneOf': described,
  '@concordat/plugin-kit/options orFalse': described,
  '@concordat/plugin-kit/options required': described,
  '@concordat/plugin-kit/options value': described,
  '@concordat/plugin-kit/texts defineTexts': 'Texts by key and language; it checks the forms of a plural.',
  '@concordat/plugin-kit/wiring waiveForService': 'The plugin has read the names as those of its option.',
  '@concordat/postgres/rows validatorOf': 'A row.',
  'create-concordat chosenNames': 'It receives what the command line was parsed to.'
}

// Members whose own members another plugin checks, in its name, or which have one of two forms.
const passedOn: Readonly<Record<string, (name: string) => boolean>> = {
  '@concordat/conventions plugin': (name) => name !== 'stores',
  '@concordat/postgres/sign-in signIn': (name) => name === 'users'
}

const published = readOptions(repository, excluded)
const job = { name: 'a', input: {}, handler: async () => {} }
const anyone = () => undefined
const fileStore = { stage: anyone, keep: anyone, discard: anyone, read: anyone }

// The types that methods take, and functions that the reports show only as a type.
const methods: Readonly<Record<string, (options: Options) => unknown>> = {
  'plugin-kit.ErrorDefinition': async (options) =>
    (await exportsOf('@concordat/plugin-kit/api-error'))['defineErrors']?.({ CODE: options }),
  'batch.BatchRoute': async (options) => (await started('@concordat/batch')).batch('/batch', options),
  'files.SentFileOptions': async (options) => {
    const app = await started('@concordat/files', { store: fileStore })
    let thrown: unknown
    app.get('/file', async (_request, reply) => {
      try {
        return reply.file({ id: '', type: '', size: 0, digest: '' }, options)
      } catch (error) {
        thrown = error
        return ''
      }
    })
    await app.inject('/file')
    throw thrown
  },
  'jobs.JobDefinition': async (options) => (await exportsOf('@concordat/jobs'))['defineJob']?.(options),
  'jobs.ScheduleOptions': async (options) => (await started('@concordat/jobs', { owner: anyone })).jobs.schedule(job, options),
  'jobs.ServeOptions': async (options) => (await started('@concordat/jobs', { owner: anyone })).jobs.serve(job, '/jobs', options),
  'jobs.StartOptions': async (options) => (await started('@concordat/jobs', { owner: anyone })).jobs.start(job, {}, options),
  'pagination-query.Declaration': async (options) => {
    const declare = (await exportsOf('@concordat/pagination-query'))['collection']?.({}) as Exported
    return declare(options)
  },
  'service.SettingsOptions': async (options) => (await exportsOf('@concordat/service'))['readSettings']?.(options),
  'webhooks.EmitOptions': async (options) => {
    const events = { happened: { description: 'It happened.', schema: {}, example: {} } }
    return (await started('@concordat/webhooks', { events, mayReceive: 'everyone', worker: false })).webhooks.emit('happened', {}, options)
  },
  'work-queue.QueueSettings': async (options) => (await memoryQueue()).define('other', options),
  'work-queue.WorkOptions': async (options) => (await memoryQueue()).work('some', anyone, options)
}

// The options with which the plugin that reads a key of `config` starts.
const configPlugins: Readonly<Record<string, readonly [entry: string, options: Options]>> = {
  projection: ['@concordat/pagination-query', {}],
  cache: ['@concordat/conditional-caching', {}],
  contentSecurityPolicy: ['@concordat/transport-security', {}],
  idempotency: ['@concordat/idempotency', { scope: anyone }],
  openapi: ['@concordat/openapi', {}],
  rateLimit: ['@concordat/rate-limiting', {}],
  transaction: ['@concordat/postgres/unit-of-work', { database: { open: anyone } }],
  upload: ['@concordat/files', { store: fileStore }]
}

async function started(entry: string, options: Options = {}): Promise<Started> {
  const app = Fastify()
  await app.register((await exportsOf(entry))['default'] as FastifyPluginAsync, options)
  return app
}

async function memoryQueue(): Promise<Queue> {
  const queue = (await exportsOf('@concordat/work-queue'))['memoryWorkQueue']?.() as Queue
  await queue.define('some')
  return queue
}

/** Passes options to a place of the reports. */
async function pass({ entry, name, parameter }: OptionPlace, options: unknown): Promise<unknown> {
  const exported = await exportsOf(entry)
  if (parameter === undefined) return Fastify().register((exported[name] ?? exported['default']) as FastifyPluginAsync, options as object)
  const result = exported[name]?.(...Array.from({ length: parameter }), options)
  // A generator begins with the first call of next().
  return isGenerator(result) ? result.next() : result
}

function isGenerator(value: unknown): value is AsyncGenerator {
  return typeof value === 'object' && value !== null && 'next' in value
}

async function passConfig({ key }: RouteConfigKey, value: unknown) {
  const [entry, options] = configPlugins[key] as readonly [string, Options]
  const app = await started(entry, options)
  app.post('/orders', { config: { [key]: value } }, anyone)
  await app.ready()
}

interface Misspelt {
  readonly options: unknown
  /** Where the wrong name is. */
  readonly path: string
  readonly wrong: string
  readonly right: string
}

function* misspelt(tree: OptionTree): Generator<Misspelt> {
  if ('values' in tree) yield* inside(tree.values, '[1]', (options) => ({ 1: options }))
  else if ('items' in tree) yield* inside(tree.items, '[0]', (options) => [options])
  else {
    for (const [right, inner] of tree.members) {
      const middle = Math.floor(right.length / 2)
      const wrong = `${right.slice(0, middle)}${right[middle] === 'q' ? 'j' : 'q'}${right.slice(middle + 1)}`
      yield { options: { [wrong]: 1 }, path: '', wrong, right }
      if (inner !== undefined) yield* inside(inner, `.${right}`, (options) => ({ [right]: options }))
    }
  }
}

function* inside(tree: OptionTree, step: string, around: (options: unknown) => unknown): Generator<Misspelt> {
  for (const found of misspelt(tree)) yield { ...found, options: around(found.options), path: step + found.path }
}

function withoutPassedOn(where: string, tree: OptionTree): OptionTree {
  const isPassedOn = passedOn[where]
  if (isPassedOn === undefined || !('members' in tree)) return tree
  return { members: new Map([...tree.members].map(([name, inner]) => [name, isPassedOn(name) ? undefined : inner])) }
}

/** Requires that each misspelt option is refused, with the right name as the suggestion. */
async function requireRefusals(test: Test, place: string, tree: OptionTree, run: (options: unknown) => unknown) {
  let count = 0
  for (const { options, path, wrong, right } of misspelt(tree)) {
    count += 1
    const thrown = await (async () => run(options))().catch((error: unknown) => error)
    const [at, instead] = [`${path}.${wrong}`, `${path}.${right}`].map((end) => end.replaceAll(/[.[\]]/g, '\\$&')) as [string, string]
    const expected = new RegExp(`^[a-z-]+: (?:.+: )?([\\w.]+?)${at} is unknown\\. Did you mean \\1${instead}\\?$`)
    test.ok(thrown instanceof TypeError, `${place} refuses ${at}`)
    test.match((thrown as Partial<Error> | undefined)?.message ?? 'Nothing was thrown.', expected, `${place} suggests the name for ${at}`)
  }
  test.ok(count > 0, `${place} has options`)
}

t.test('every plugin and every exported function refuses each of its options with a wrong letter', async (t) => {
  for (const place of published.places) {
    const where = `${place.entry} ${place.name}`
    if (where in exceptions) continue
    await requireRefusals(t, where, withoutPassedOn(where, place.tree), (options) => pass(place, options))
  }
})

t.test('the preset passes the options of a plugin on, which refuses an unknown one', async (t) => {
  const { default: conventions, serverOptions } = await exportsOf('@concordat/conventions')
  const options = { versions: { 1: {} }, authentication: false, rateLimiting: { adressLimit: false } }
  const app = Fastify((serverOptions as () => object)())
  await t.rejects(async () => app.register(conventions as FastifyPluginAsync, options), {
    message: 'rate-limiting: options.adressLimit is unknown. Did you mean options.addressLimit?'
  })
})

t.test('every function that takes options and is not exported refuses them too', async (t) => {
  for (const [type, run] of Object.entries(methods)) {
    await requireRefusals(t, type, published.treeOf(type) as OptionTree, (options) => run(options as Options))
  }
})

t.test('every key of config that has options refuses each of them with a wrong letter', async (t) => {
  for (const config of published.configs) {
    await requireRefusals(t, `config.${config.key}`, config.tree, (options) => passConfig(config, options))
  }
})

t.test('every type that a person fills in is tested above or named as an exception, and no exception is superfluous', async (t) => {
  t.strictSame(
    published.types.filter((type) => !published.reached.has(type) && !excluded.has(type)),
    []
  )
  const names = new Set(published.places.map(({ entry, name }) => `${entry} ${name}`))
  t.strictSame(
    Object.keys(exceptions).filter((name) => !names.has(name)),
    []
  )
  const all = readOptions(repository, new Set())
  for (const type of Object.keys(methods)) all.treeOf(type)
  t.strictSame(
    [...excluded].filter((type) => !all.reached.has(type) && !all.types.includes(type)),
    []
  )
})
