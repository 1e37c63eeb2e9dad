// Every public function and method that returns a promise is called with values that throw wherever they are used. The promise may
// reject, but the call itself may not throw: a caller that only has .catch(), such as a timer, would end the process.

import { type Named, readNames } from '@concordat/test-harness/public-api'
import Fastify, { type FastifyPluginAsync } from 'fastify'
import t, { type Test } from 'tap'
import { exportsOf, repository } from './source-exports.ts'

type Instance = Readonly<Record<string, unknown>>

// The types with such methods that are not called here, as `package.Name`, by reason.
const notCalled: Readonly<Record<string, readonly string[]>> = {
  'A service or another library implements it.': [
    'jobs.Job',
    'plugin-kit.Observer',
    'pagination-query.OpenSample',
    'pagination-query.SqlClient',
    'postgres.RemovalOptions',
    'postgres.SqlClient',
    'postgres.UserFunctions',
    'service.ServeOptions',
    'token-issuing.SignInRoutesOptions',
    'token-issuing.TokenIssuerOptions',
    'webhooks.WebhookListInput',
    'work-queue.Transaction'
  ],
  'It is made by createClient or createSession, whose tests show its rejections.': [
    'client.Call',
    'client.Client',
    'client.Job',
    'client.Session'
  ],
  'A handler of a job gets it.': ['jobs.JobContext'],
  'A test gets it.': ['testing.TestClient', 'testing.WebhookReceiver'],
  'A plugin publishes it for other plugins.': ['plugin-kit.Contracts', 'plugin-kit.Transactions']
}

const isPromise = (text = '') => /^Promise(?:Like)?</.test(text)
const returnsPromise = ({ returns, text }: Named) =>
  isPromise(returns) || (returns === undefined && /^(?:<\w+>)?\([^)]*\) => Promise(?:Like)?</.test(text))

/** A value that throws wherever it is used: when a member is read, when it is called, when it becomes a text or a number. */
const hostile: unknown = new Proxy(() => {}, {
  get(_, name) {
    throw new Error(`The test refuses to read ${String(name)}.`)
  },
  apply() {
    throw new Error('The test refuses the call.')
  }
})

const refuse = () => Promise.reject(new Error('The test has no server.'))
const pool = { query: refuse, on() {}, connect: (done: (error: Error) => void) => done(new Error('The test has no server.')) }
const ioredis = { evalsha: refuse, eval: refuse, duplicate: () => ({ connect: refuse, subscribe: refuse, disconnect() {}, on() {} }) }

const make = async (entry: string, name: string, ...input: readonly unknown[]) => (await exportsOf(entry))[name]?.(...input) as Instance
const postgres = () => make('@concordat/postgres', 'fromPool', pool)
const redis = () => make('@concordat/redis', 'fromIoredis', ioredis)
const places: Readonly<Record<string, () => Promise<unknown>>> = { memory: async () => undefined, postgres, redis }

const issuer = { issuer: 'https://issuer.test', audience: 'orders' }
const secret = 'jK4vQ8xZr2Lw7TnB5mCs9Yd3Hf6Gp1Ea'
const event = { description: 'It happened.', schema: {}, example: {} }

async function items() {
  const schema = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }
  const declare = (await exportsOf('@concordat/pagination-query'))['collection']?.(schema) as (declaration: object) => object
  return declare({ name: 'items', style: 'page', filter: { id: ['eq'] }, sort: { keys: ['id'] }, id: 'id', defaultSort: ['id'] })
}

/** Registers a plugin on a server of its own, and returns what it adds to the server under a name. */
async function decoration(entry: string, name: string, options: object): Promise<Instance> {
  const app = Fastify()
  await app.register((await exportsOf(entry))['default'] as FastifyPluginAsync, options)
  return app[name as keyof typeof app] as Instance
}

// How to make an instance of a type, as `package.Name`, that is not a store. Stores are found by the names of their functions.
const instances: Readonly<Record<string, () => Promise<Instance>>> = {
  'authentication.OwnTokens': () =>
    make('@concordat/authentication', 'ownTokens', { ...issuer, keys: [{ kid: 'a', algorithm: 'HS256', secret }] }),
  'authentication.RevocationFeed': async () =>
    make('@concordat/authentication', 'revocationFeed', { store: await make('@concordat/authentication', 'memoryRevocationStore') }),
  'authentication.TrustedIssuer': () =>
    make('@concordat/authentication', 'outsideIssuer', { ...issuer, jwksUrl: 'https://issuer.test/keys' }),
  'jobs.Jobs': () => decoration('@concordat/jobs', 'jobs', { owner: () => undefined }),
  'jobs.ScheduleStore': async () => (await make('@concordat/postgres/jobs', 'postgresJobStore', await postgres()))['schedules'] as Instance,
  'jobs.Schedules': async () => (await decoration('@concordat/jobs', 'jobs', { owner: () => undefined }))['schedules'] as Instance,
  'pagination-query.FilterBody': async () => make('@concordat/pagination-query', 'filterBody', await items()),
  'postgres.OpenDatabase': () => make('@concordat/postgres/open', 'openDatabase', { folder: 'memory://', onError() {} }),
  'postgres.Postgres': postgres,
  'postgres.Statements': () => make('@concordat/postgres/rows', 'statementsOn', { query: refuse }),
  'postgres.Table': async () => make('@concordat/postgres/table', 'table', await items()),
  'redis.OpenRedis': async () => {
    const opened = await make('@concordat/redis/open', 'openRedis', 'redis://127.0.0.1:1')
    t.teardown(() => (opened['close'] as () => void)())
    return opened
  },
  'redis.Redis': redis,
  'service.Settings': () => make('@concordat/service', 'readSettings', { folder: new URL('../../../../', import.meta.url) }, {}),
  'token-issuing.TokenIssuer': async () =>
    make('@concordat/token-issuing', 'tokenIssuer', {
      sign: async () => 'token',
      findUser: () => undefined,
      findUserById: () => undefined,
      refreshKeys: [secret],
      stores: {
        refreshTokens: await make('@concordat/token-issuing', 'memoryRefreshTokenStore'),
        loginAttempts: await make('@concordat/token-issuing', 'memoryLoginAttemptStore')
      },
      revocations: { isRevoked: () => false, revoke: async () => {} }
    }),
  'webhooks.WebhookSender': () => make('@concordat/webhooks', 'webhookSender'),
  'webhooks.Webhooks': () => decoration('@concordat/webhooks', 'webhooks', { events: { event }, mayReceive: 'everyone', worker: false }),
  'work-queue.TestClock': () => make('@concordat/work-queue/testing', 'testClock')
}

const publicApi = readNames(repository).filter(({ entry }) => entry !== undefined)
const functions = publicApi.filter(({ kind, type }) => kind === 'function' && type === '')

/** Returns what implements a type, by the name under which a failure is shown. */
async function implementationsOf(type: string): Promise<Map<string, Instance>> {
  const [, name = ''] = type.split('.')
  const found = new Map<string, Instance>()
  for (const { entry = '', name: maker, returns = '' } of functions) {
    const [, place = ''] = /^(memory|postgres|redis)[A-Z]/.exec(maker) ?? []
    if (place === '' || !new RegExp(`\\b${name}\\b`).test(returns)) continue
    found.set(maker, await make(entry, maker, await places[place]?.()))
  }
  const instance = await instances[type]?.()
  return instance ? found.set(name, instance) : found
}

/** Calls a function without parameters, with null, and with values that throw, and returns the promises. */
function requirePromises(t: Test, place: string, call: (...input: readonly unknown[]) => unknown): Promise<unknown>[] {
  return [[], [null, null, null, null], [hostile, hostile, hostile, hostile]].map((input, index) => {
    const how = ['nothing', 'null', 'values that throw'][index]
    try {
      const promise = call(...input) as Promise<unknown>
      t.type(promise, Promise, `${place} returns a promise for ${how}`)
      return promise.catch(() => {})
    } catch (error) {
      t.fail(`${place} throws for ${how}: ${(error as Error).message}`)
      return Promise.resolve()
    }
  })
}

t.test('every exported function that returns a promise never throws', async (t) => {
  for (const { entry = '', name, returns } of functions) {
    if (!isPromise(returns)) continue
    const exported = (await exportsOf(entry))[name]
    // Test tools clean up at the end of the test that they receive.
    const first = entry === '@concordat/testing' ? [t] : []
    await Promise.all(requirePromises(t, `${entry} ${name}`, (...input) => exported?.(...first, ...input)))
  }
})

t.test('every method that returns a promise never throws', async (t) => {
  const skipped = new Set(Object.values(notCalled).flat())
  const members = publicApi.filter((one) => one.kind === 'interface' && !one.isNested && returnsPromise(one))
  for (const [type, methods] of Map.groupBy(members, ({ owner, type }) => `${owner}.${type}`)) {
    if (skipped.delete(type)) continue
    const implementations = await implementationsOf(type)
    t.ok(implementations.size > 0, `${type} is made here, or is named in notCalled`)
    for (const [place, made] of implementations) {
      for (const { name: method, isOptional } of methods) {
        const call = made[method] as ((...input: readonly unknown[]) => unknown) | undefined
        if (call === undefined) t.ok(isOptional, `${place}.${method} may be missing`)
        else requirePromises(t, `${place}.${method}`, (...input) => call.apply(made, [...input]))
      }
    }
  }
  t.strictSame([...skipped], [], 'all types of notCalled exist')
})
